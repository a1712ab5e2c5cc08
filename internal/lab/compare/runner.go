package compare

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/machine"
)

// A Config is a comparison.
type Config struct {
	Plan   Plan
	Ground Ground

	// Program, with these arguments and one more, calls [Member] with that one.
	Program   string
	Arguments []string

	// Command and Version are for the report.
	Command []string
	Version string

	// File is where the report is kept while it grows; "": nowhere. If Older, it has other results, which stay there until a run
	// is over.
	File  string
	Older bool

	// Stopped, if given, reports whether this process was stopped for a while (Ctrl-Z) since it was called last. A run in which it
	// was is done again: its ranks went on, and what this process did not hear of them meanwhile would count as late.
	Stopped func() bool

	// Watch, if given, is called before each run, every second during it, and at the
	// end; never twice at a time.
	Watch func(State)
}

// A State is how far a comparison is.
type State struct {
	Report *results.Report // not to be kept

	// What runs now; the cell is -1 while variants are tried out, and -2 at the end.
	Cell    int
	Variant string
	Round   int
	Runs    time.Duration // for so long

	Done, All int           // runs
	Left      time.Duration // about; negative if nothing is known yet
}

// Stages of a comparison that are no cells.
const (
	TryingOut = -1
	Over      = -2
)

// A Runner is a comparison at work.
type Runner struct {
	Config
	report *results.Report
	tasks  []*Task // by cell
	order  int     // of the next run
	saved  time.Time
	pace   pace
	failed map[[2]int]int // in a row, by cell and variant
}

// Run does all runs of a plan and returns the report as far as it got. A failure of a run is
// noted in that run. The error is about the comparison: it was interrupted (the context's cause),
// no variant can run, or the file can not be written.
func Run(ctx context.Context, c Config) (*results.Report, error) {
	if err := c.Plan.Check(); err != nil {
		return nil, err
	}
	r := &Runner{Config: c, failed: map[[2]int]int{}}
	r.report = &results.Report{
		Format: results.Format, Version: c.Version, Command: printable(c.Command), Started: time.Now().Truncate(time.Second),
		Seed: c.Plan.Seed, Runs: c.Plan.Runs, By: c.Plan.By, Machine: machine.This(), Links: c.Ground.Links(),
	}
	if g, real := c.Ground.(Hosts); real {
		r.report.Hosts = g.Machines
	}
	r.report.Cells, r.tasks = c.Plan.cells(c.Ground)
	r.Plan.Pins.Patience = c.Plan.patience()
	for _, v := range c.Plan.Variants {
		params := r.Plan.Pins.params(v, c.Plan.MTU, btl.Default)
		delete(params, "btl")
		r.report.Variants = append(r.report.Variants, results.Variant{Name: v.Name, BTL: v.BTL, Params: params, Facts: c.Ground.Facts(c.Plan.MTU)})
	}
	if err := r.report.Check(); err != nil { // before time is spent on what can not be written
		return nil, err
	}
	if err := r.save(true); err != nil {
		return r.report, err
	}
	err := r.run(ctx)
	r.report.Finished = time.Now().Truncate(time.Second)
	r.report.Interrupted = ctx.Err() != nil
	if saved := r.save(true); err == nil { // else what has ended it is told, which may be that nothing could be saved before
		err = saved
	}
	r.tell(State{Cell: Over})
	return r.report, err
}

// printable is a command as a report can have it: names of files need not be UTF-8.
func printable(command []string) []string {
	words := make([]string, 0, len(command))
	for _, w := range command {
		words = append(words, strings.ToValidUTF8(w, "\ufffd"))
	}
	return words
}

func (r *Runner) run(ctx context.Context) error {
	if err := r.tryOut(ctx); err != nil {
		return err
	}
	r.pace.expect(r.turns())
	for _, t := range r.turns() {
		if r.hopeless(t) {
			continue
		}
		run, err := r.take(ctx, t)
		if err != nil {
			return err
		}
		r.note(t, run)
		if err := r.save(false); err != nil {
			return err
		}
	}
	return nil
}

// turns are those of the variants and cells that can run.
func (r *Runner) turns() []turn {
	var able []turn
	for _, t := range turns(len(r.report.Cells), len(r.report.Variants), r.Plan.Runs) {
		if r.report.Cells[t.cell].Unable == "" && r.report.Variants[t.variant].Unable == "" {
			able = append(able, t)
		}
	}
	return able
}

// patience is how many failures in a row end the trials of a variant in a cell.
const patience = 2

func (r *Runner) hopeless(t turn) bool { return r.failed[[2]int{t.cell, t.variant}] >= patience }

// note adds a run to the report.
func (r *Runner) note(t turn, run results.Run) {
	key := [2]int{t.cell, t.variant}
	r.failed[key]++
	if run.Error == "" {
		r.failed[key] = 0
	}
	if left := r.Plan.Runs - t.round - 1; r.hopeless(t) && left > 0 {
		run.Error = fmt.Sprintf("%s\n(failed %d times in a row: not tried again in this cell, where %d more runs were to be)", run.Error, patience, left)
		r.pace.skip(t, left)
	}
	cell := &r.report.Cells[t.cell]
	cell.Runs = append(cell.Runs, run)
	r.pace.took(t, time.Duration(run.Seconds*float64(time.Second)))
}

// learn notes what was found out about a variant.
func (r *Runner) learn(variant string, facts map[string]string) {
	v := r.report.Variant(variant)
	if v.Facts == nil {
		v.Facts = map[string]string{}
	}
	maps.Copy(v.Facts, facts)
}

// saveEvery bounds what a comparison that is killed can lose.
const saveEvery = time.Second

func (r *Runner) save(now bool) error {
	if r.File == "" || r.Older && !r.report.Measured() || !now && time.Since(r.saved) < saveEvery {
		return nil
	}
	r.saved = time.Now()
	return results.Save(r.File, r.report)
}

// watching tells a state before it calls f, and every second until f returns. Meanwhile f may
// change nothing that the state shows.
func (r *Runner) watching(s State, f func()) {
	if r.Watch == nil {
		f()
		return
	}
	r.tell(s)
	begun := time.Now()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.Runs = time.Since(begun)
				r.tell(s)
			case <-over:
				return
			}
		}
	}()
	f()
	close(over)
	<-ended
}

func (r *Runner) tell(s State) {
	if r.Watch == nil {
		return
	}
	s.Report = r.report
	s.Done, s.All, s.Left = r.pace.state()
	if s.Left > 0 {
		s.Left = max(0, s.Left-s.Runs)
	}
	r.Watch(s)
}
