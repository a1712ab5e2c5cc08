package strandcmd

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/param"
)

// plan returns what the flags ask for, or all mistakes in them. Congestion control and automatic
// buffer sizes are left out: pins decides on them where the runs take place.
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
		p.Links = make([]emulate.Link, 1) // without conditions: the network is as it is
	} else {
		p.Links, errs = f.links()
		mistakes = append(mistakes, errs...)
	}
	p.Nets, err = compare.ParseNets(f.network)
	mistake("network", err)
	p.Counts, err = list("networks", f.networks, upTo(compare.MaxNetworks))
	if err != nil {
		mistakes = append(mistakes, err)
	}
	if !slices.Contains(compare.Emulations, f.emulation) {
		mistake("emulation", fmt.Errorf("%q: want one of %s", f.emulation, strings.Join(compare.Emulations, ", ")))
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

// axes parses the flags about workloads.
func (f *compareFlags) axes() (a compare.Axes, mistakes []error) {
	var errs [4]error
	a.Sizes, errs[0] = f.allSizes()
	a.Fanouts, errs[1] = list("fanout", f.fanout, upTo(workload.MaxMany))
	a.Tasks, errs[2] = list("tasks", f.tasks, upTo(workload.MaxTasks))
	a.Orderings, errs[3] = list("ordering", f.ordering, func(text string) (string, error) {
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

// allSizes parses --sizes and checks that workloads can have each of the sizes.
func (f *compareFlags) allSizes() ([]int64, error) {
	if f.sizes == "" {
		return nil, nil
	}
	sizes, err := bench.ParseSizes(f.sizes)
	if err != nil {
		return nil, err
	}
	var all []int64
	for _, size := range sizes {
		if err := workload.CheckSize(size); err != nil {
			return nil, fmt.Errorf("--sizes %s: %w", f.sizes, err)
		}
		if slices.Contains(all, int64(size)) {
			return nil, fmt.Errorf("--sizes %s: %d is there twice", f.sizes, size)
		}
		all = append(all, int64(size))
	}
	return all, nil
}

// upTo returns a function that reads a whole number from 1 to most.
func upTo(most int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange), n < 1:
			return 0, errors.New("want a whole number of 1 or more")
		case n > most:
			return 0, fmt.Errorf("want at most %d", most)
		}
		return n, nil
	}
}

// checkIdle refuses flags that nothing in a plan uses. It does not find a flag that the
// workloads' own parameters overrule.
func (f *compareFlags) checkIdle(flags *pflag.FlagSet, p compare.Plan) error {
	for _, axis := range []struct{ flag, param string }{{"sizes", "size"}, {"fanout", "fanout"}, {"tasks", "tasks"}, {"ordering", "ordering"}} {
		takes := func(t compare.Task) bool { _, has := t.Params[axis.param]; return has }
		if flags.Changed(axis.flag) && !slices.ContainsFunc(p.Tasks, takes) {
			return fmt.Errorf("--%s: nothing of --workload %s has such a parameter; leave it out", axis.flag, f.workloads)
		}
	}
	reorders := func(l emulate.Link) bool { return l.Reorder > 0 }
	if flags.Changed("reorder-by") && !slices.ContainsFunc(p.Links, reorders) {
		return errors.New("--reorder-by: no frames are held back without --reorder; give both, or none")
	}
	says := func(loss string) bool { return strings.Contains(loss, "/") }
	if losses := strings.Split(f.loss, ","); flags.Changed("burst-loss") && !slices.ContainsFunc(losses, func(loss string) bool { return !says(loss) }) {
		return fmt.Errorf("--burst-loss: --loss %s says of each loss how long its runs are; leave it out", f.loss)
	}
	return nil
}

// links parses the flags about networks. It returns a link for each combination of rate, delay
// and loss.
func (f *compareFlags) links() (links []emulate.Link, mistakes []error) {
	note := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	if !(f.burstLoss >= 1) || math.IsInf(f.burstLoss, 0) {
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
	loss, err := emulate.ParseLoss(text)
	if err == nil && loss.Share() >= 1 {
		err = errors.New("nothing would get through; want less than 100%")
	}
	if err != nil || strings.Contains(text, "/") || f.burstLoss == 1 {
		return loss, err
	}
	share := loss.Share()
	if loss = emulate.Bursts(share, f.burstLoss); loss.Worsens > 1 {
		err = fmt.Errorf("so many frames can not be lost in runs of %g on the average; want --burst-loss of %g or more", f.burstLoss, emulate.LeastRun(share))
	}
	return loss, err
}

func oneRate(text string) (emulate.Rate, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n == 0 {
		return 0, errors.New("nothing would get through; want a rate such as 100mbit or 1gbit, or unlimited")
	}
	return emulate.ParseRate(text)
}

// parseQueue reads the bound of a queue. The default bound, which is netem's too, is the zero
// Queue: the results do not mention it.
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

// common returns the parameters that all variants have, checked.
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

// pins returns the settings that are the same for all variants. It asks this system what is
// allowed, so call it where the runs take place.
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

// buffer reads --buffers, which must be a size.
func (f *compareFlags) buffer() (int64, error) {
	n, err := param.ParseSize(f.buffers)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("--buffers %s: want a size such as 220K, or auto", f.buffers)
	}
	return n, nil
}
