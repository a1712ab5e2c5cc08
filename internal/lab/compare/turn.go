package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/lines"
)

// grace is how long ranks that are ended may take: they have nothing to save.
const grace = 300 * time.Millisecond

// take is one turn: it makes a site, runs the ranks there and takes the site down. A failure is
// part of the result. An error means that there is no result: the context has ended, or the site
// could not be taken down.
func (r *Runner) take(ctx context.Context, t turn) (results.Run, error) {
	cell, variant := &r.report.Cells[t.cell], r.Plan.Variants[t.variant]
	run := results.Run{
		Variant: variant.Name, Round: t.round, Order: r.order, Seed: seedOf(r.Plan.Seed, t.round), Started: time.Now().Truncate(time.Millisecond),
	}
	r.order++
	conditions := Conditions{Ranks: cell.Ranks, Networks: cell.Networks, MTU: r.Plan.MTU, Seed: run.Seed}
	if cell.Link != nil {
		conditions.Link = *cell.Link
	}
	var facts map[string]string
	var err, closeErr error
	start := time.Now()
	r.watching(State{Cell: t.cell, Variant: variant.Name, Round: t.round}, func() {
		facts, err, closeErr = r.at(ctx, conditions, r.Plan.Timeout, r.tasks[t.cell], variant, &run)
	})
	if ctx.Err() != nil {
		return run, errors.Join(context.Cause(ctx), closeErr)
	}
	run.Seconds = time.Since(start).Seconds()
	if err != nil {
		run.Error = errorText(err)
		run.Metrics, run.Delays = nil, nil
		if late, ok := errors.AsType[*job.TimeoutError](err); ok {
			run.Exceeded = late.Timeout.Seconds()
		}
	}
	if r.accepts(cell, &run, facts) {
		r.learn(variant.Name, facts)
	}
	return run, closeErr
}

// accepts reports whether a report can hold a run and its facts, and turns one that it can not
// hold into a failed run. Otherwise the results could not be written any more, and the comparison
// would end.
func (r *Runner) accepts(cell *results.Cell, run *results.Run, facts map[string]string) bool {
	err := errors.Join(r.report.CheckRun(cell, run), results.CheckFacts(facts))
	if err != nil {
		run.Error = errorText(fmt.Errorf("what the ranks told is no result: %w", err))
		run.Metrics, run.Delays, run.Network, run.Rails, run.Windows = nil, nil, nil, nil, nil
	}
	return err == nil
}

// errorText is an error as a report can have it.
func errorText(err error) string {
	const longest = 8 << 10
	text := strings.ToValidUTF8(err.Error(), "\ufffd")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

// at runs a task's ranks on a site of their own, and does so again as often as this process was stopped meanwhile.
func (r *Runner) at(ctx context.Context, c Conditions, timeout time.Duration, t *Task, v Variant, run *results.Run) (facts map[string]string, err, closeErr error) {
	untouched := *run
	for {
		r.stopped() // what was before is none of this run's business
		facts, err, closeErr = r.once(ctx, c, timeout, t, v, run)
		if closeErr != nil || ctx.Err() != nil || !r.stopped() {
			return facts, err, closeErr
		}
		*run = untouched
	}
}

func (r *Runner) stopped() bool { return r.Stopped != nil && r.Stopped() }

// once runs a task's ranks on a site of their own.
func (r *Runner) once(ctx context.Context, c Conditions, timeout time.Duration, t *Task, v Variant, run *results.Run) (facts map[string]string, err, closeErr error) {
	site, err := r.Ground.Open(c)
	if err != nil {
		return nil, fmt.Errorf("network of %d hosts: %w", c.Ranks, err), nil
	}
	told, err := r.ranks(ctx, site, c, timeout, t, v)
	run.Network, closeErr = site.Close()
	if err != nil {
		return nil, err, closeErr
	}
	facts, err = collect(run, told)
	return facts, err, closeErr
}

// ranks runs a task's ranks and returns what they have told.
func (r *Runner) ranks(ctx context.Context, site Site, c Conditions, timeout time.Duration, t *Task, v Variant) ([]byte, error) {
	argument, err := json.Marshal(order{v.BTL, t.Spec})
	if err != nil {
		return nil, err
	}
	told, complaints := lines.NewBeginning(maxTold), lines.NewBeginning(maxComplaint)
	config := job.Config{
		Ranks: c.Ranks, Program: r.Program, Args: append(r.Arguments[:len(r.Arguments):len(r.Arguments)], string(argument)),
		Flags:  settings(r.Plan.Pins.params(v, c.MTU, btl.Default), v.Name),
		Stdout: told, Stderr: complaints, Timeout: timeout, Grace: grace,
	}
	site.Place(&config)
	err = job.Run(ctx, config)
	if err == nil && told.Full() {
		err = fmt.Errorf("the ranks told more than %d MB", maxTold>>20)
	}
	return told.Bytes(), explain(err, complaints.String())
}

// explain adds to an error what the ranks have said about it, if it does not say so
// itself.
func explain(err error, complaints string) error {
	complaints = strings.TrimSpace(complaints)
	if err == nil || complaints == "" || strings.Contains(err.Error(), complaints) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, complaints)
}
