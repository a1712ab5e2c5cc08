package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand"
)

// A Farm is one manager, rank 0, that hands out tasks to workers, all other ranks.
// A worker asks for tasks by requests, of which it has several outstanding, and
// gets Fanout tasks for each, every one a message tagged with its type; it receives
// them in whatever order they come (any tag). A request says how many tasks
// the worker has checked since its last one. Tasks take no time but that of their
// messages.
//
// The thesis has 10,000 tasks of 30 KB and 300 KB, fanouts of 1 and 10, 10 outstanding
// requests, and one manager with seven workers.
type Farm struct {
	Tasks       int `json:"tasks"`
	Size        int `json:"size"`        // bytes of a task
	Fanout      int `json:"fanout"`      // tasks for a request
	Outstanding int `json:"outstanding"` // requests of a worker
	Types       int `json:"types"`       // of tasks, each with its tag

	// Ordering is "relaxed" if a worker, which receives any tag, may get a task before an older
	// one of another type, and "strict" if not. Empty: as the parameter pml_ordering of the ranks
	// says.
	Ordering string `json:"ordering"`
}

// Values of Farm.Ordering.
const (
	strict  = "strict"
	relaxed = "relaxed"
)

// FarmResult is how a farm went.
type FarmResult struct {
	Ordering       string  `json:"ordering"` // that of the parameters, or of pml_ordering
	Workers        int     `json:"workers"`
	Seconds        float64 `json:"seconds"` // from the first request to the last worker's last report
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// Check implements [Workload].
func (f Farm) Check() error {
	err := inBounds("a farm", bound{"tasks", f.Tasks, MaxTasks}, bound{"tasks for a request", f.Fanout, MaxMany},
		bound{"outstanding requests", f.Outstanding, MaxMany}, bound{"types", f.Types, MaxMany})
	switch {
	case err != nil:
		return err
	case f.Ordering != "" && f.Ordering != strict && f.Ordering != relaxed:
		return fmt.Errorf("ordering %q: want %s or %s, or nothing for what pml_ordering says", f.Ordering, strict, relaxed)
	}
	return CheckSize(f.Size)
}

// Tags: 0 to Types-1 are tasks'.
func (f Farm) requestTag() int { return f.Types }
func (f Farm) doneTag() int    { return f.Types + 1 }

// Permits implements [Workload].
func (f Farm) Permits(ranks int) error { return atLeast(2, ranks) }

// Run implements [Workload].
func (f Farm) Run(ctx context.Context, c *strand.Comm) (Result, error) {
	order := strand.Strict
	if f.Ordering == "" {
		f.Ordering = c.World().Params().String("pml_ordering")
	}
	if f.Ordering == relaxed {
		order = strand.Relaxed
	}
	c, err := c.DupWith(ctx, order)
	if err != nil {
		return nil, err
	}
	result, err := f.on(ctx, c)
	return result, errors.Join(err, c.Free())
}

// on runs the farm on a communicator of its own.
func (f Farm) on(ctx context.Context, c *strand.Comm) (Result, error) {
	if err := c.Barrier(ctx); err != nil {
		return nil, err
	}
	if c.Rank() != 0 {
		return nil, newWorker(f, c).run(ctx)
	}
	start := time.Now()
	m := newManager(f, c)
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	r := &FarmResult{Ordering: f.Ordering, Workers: c.Size() - 1, Seconds: time.Since(start).Seconds()}
	r.BytesPerSecond = float64(f.Tasks) * float64(f.Size) / r.Seconds
	return r, nil
}
