package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/bench"
	"github.com/strandmp/strand/internal/compare"
	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/param"
)

// emulations are who may emulate networks, the default first.
var emulations = []string{"auto", "netem", "user"}

// plan returns what the flags ask for, or all that is wrong with them. Pins are left
// out.
func (f *compareFlags) plan() (compare.Plan, error) {
	p := compare.Plan{Ranks: f.ranks, Runs: f.runs, Seed: f.seed, By: f.metrics, MTU: f.mtu, Timeout: f.timeout}
	var mistakes []error
	mistake := func(flag string, err error) {
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	var err error
	p.Variants, err = compare.ParseVariants(f.btl, btl.Default)
	mistake("btl", err)
	mistake("metric", results.CheckMetrics(f.metrics))
	axes, errs := f.axes()
	if mistakes = append(mistakes, errs...); len(errs) == 0 {
		p.Tasks, err = compare.ParseTasks(f.workloads, axes)
		mistake("workload", err)
	}
	if len(f.hosts) > 0 {
		p.Links = make([]emulate.Link, 1) // which does nothing
	} else {
		p.Links, errs = f.links()
		mistakes = append(mistakes, errs...)
	}
	if !slices.Contains(emulations, f.emulation) {
		mistake("emulation", fmt.Errorf("%q: want one of %s", f.emulation, strings.Join(emulations, ", ")))
	}
	if f.buffers != "auto" {
		p.Pins.Buffer, err = f.buffer()
		mistakes = append(mistakes, err)
	}
	p.Pins.Common, err = f.common()
	if err != nil {
		mistakes = append(mistakes, err)
	}
	if err := errors.Join(mistakes...); err != nil {
		return p, err
	}
	return p, p.Check()
}

// axes are the flags that are about workloads.
func (f *compareFlags) axes() (a compare.Axes, mistakes []error) {
	if f.sizes != "" {
		sizes, err := bench.ParseSizes(f.sizes)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		for _, size := range sizes {
			a.Sizes = append(a.Sizes, int64(size))
		}
	}
	number := func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return 0, errors.New("want a whole number of 1 or more")
		}
		return n, nil
	}
	var errs [3]error
	a.Fanouts, errs[0] = list("fanout", f.fanout, number)
	a.Tasks, errs[1] = list("tasks", f.tasks, number)
	a.Orderings, errs[2] = list("ordering", f.ordering, func(text string) (string, error) {
		if text != "strict" && text != "relaxed" {
			return "", errors.New("want strict, relaxed or both")
		}
		return text, nil
	})
	for _, err := range errs {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	return a, mistakes
}

// links are the flags that are about networks: one for each combination.
func (f *compareFlags) links() (links []emulate.Link, mistakes []error) {
	note := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	if !(f.burstLoss >= 1) {
		note(fmt.Errorf("--burst-loss %g: want 1 or more frames", f.burstLoss))
		return nil, mistakes
	}
	losses, err := list("loss", f.loss, f.oneLoss)
	note(err)
	delays, err := list("delay", f.delay, emulate.ParseDelay)
	note(err)
	rates, err := list("rate", f.rate, oneRate)
	note(err)
	path := emulate.Path{Jitter: f.jitter, ReorderBy: f.reorderBy}
	for _, share := range []struct {
		flag, text string
		into       *float64
	}{{"reorder", f.reorder, &path.Reorder}, {"duplicate", f.duplicate, &path.Duplicate}, {"corrupt", f.corrupt, &path.Corrupt}} {
		*share.into, err = emulate.ParseShare(share.text)
		if err != nil {
			note(fmt.Errorf("--%s %w", share.flag, err))
		}
	}
	if path.Reorder == 0 {
		path.ReorderBy = 0
	}
	queue, err := f.parseQueue()
	note(err)
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	for _, rate := range rates {
		for _, delay := range delays {
			for _, loss := range losses {
				link := emulate.Link{NIC: emulate.NIC{Rate: rate, Queue: queue}, Path: path}
				link.Delay, link.Loss = delay, loss
				links = append(links, link)
			}
		}
	}
	return links, nil
}

func (f *compareFlags) oneLoss(text string) (emulate.Loss, error) {
	if !strings.Contains(text, "/") && f.burstLoss != 1 {
		text += "/" + strconv.FormatFloat(f.burstLoss, 'g', -1, 64)
	}
	loss, err := emulate.ParseLoss(text)
	if err == nil && loss.Share() >= 1 {
		err = errors.New("nothing would get through; want less than 100%")
	}
	return loss, err
}

func oneRate(text string) (emulate.Rate, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n == 0 {
		return 0, errors.New("nothing would get through; want a rate such as 100mbit or 1gbit, or unlimited")
	}
	return emulate.ParseRate(text)
}

// parseQueue reads the bound of a queue. That of netem is none to write down.
func (f *compareFlags) parseQueue() (emulate.Queue, error) {
	q, err := emulate.ParseQueue(f.queue)
	if err != nil {
		return q, fmt.Errorf("--queue %w", err)
	}
	if q == (emulate.Queue{Frames: emulate.DefaultQueue}) {
		return emulate.Queue{}, nil
	}
	return q, nil
}

// list reads the items of a flag. An empty text has none; no two may be alike.
func list[T comparable](flag, text string, read func(string) (T, error)) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	var all []T
	seen := map[T]bool{}
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		value, err := read(one)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--%s %s: %w", flag, one, err)
		case seen[value]:
			return nil, fmt.Errorf("--%s %s: %s is there twice", flag, text, one)
		}
		seen[value] = true
		all = append(all, value)
	}
	return all, nil
}

// common are the parameters of all variants, checked.
func (f *compareFlags) common() (map[string]string, error) {
	if err := checkSettings(f.settings, os.Environ()); err != nil {
		return nil, err
	}
	params := map[string]string{}
	for _, s := range f.settings {
		if s.Name == "btl" {
			return nil, errors.New("-p btl: what is compared is what --btl says")
		}
		params[s.Name] = s.Text
	}
	return params, nil
}

// pins are what all variants have alike here, in the place where they run.
func (f *compareFlags) pins(common map[string]string) (compare.Pins, error) {
	pins := compare.Pins{Common: common}
	var err error
	if pins.Congestion, err = compare.Congestion(f.congestion); err != nil {
		return pins, fmt.Errorf("--congestion: %w", err)
	}
	if f.buffers == "auto" {
		pins.Buffer = compare.Buffer()
		return pins, nil
	}
	pins.Buffer, err = f.buffer()
	return pins, err
}

// buffer is what --buffers says, if it says a size.
func (f *compareFlags) buffer() (int64, error) {
	n, err := param.ParseSize(f.buffers)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("--buffers %s: want a size such as 220K, or auto", f.buffers)
	}
	return n, nil
}
