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
type Farm struct {
	Tasks       int `json:"tasks"`
	Size        int `json:"size"`        // bytes of a task
	Fanout      int `json:"fanout"`      // tasks for a request
	Outstanding int `json:"outstanding"` // requests of a worker
	Types       int `json:"types"`       // of tasks, each with its tag
}

// ThesisFarm is what the thesis measured with, for messages of 30 KB and 300 KB and fanouts
// of 1 and 10, on one manager and seven workers.
func ThesisFarm(size, fanout int) Farm {
	return Farm{Tasks: 10_000, Size: size, Fanout: fanout, Outstanding: 10, Types: 10}
}

// FarmResult is how a farm went.
type FarmResult struct {
	Farm
	Workers        int     `json:"workers"`
	Seconds        float64 `json:"seconds"` // from the first request to the last worker's last report
	BytesPerSecond float64 `json:"bytes_per_second"`
	Done           []int   `json:"done"` // tasks, by worker
}

// Bounds of a farm: more is a slip of the finger.
const (
	maxTasks = 1 << 30
	maxMany  = 1 << 12
)

// Check returns what is wrong with the parameters.
func (f Farm) Check() error {
	for _, c := range []struct {
		name       string
		value, max int
	}{{"tasks", f.Tasks, maxTasks}, {"tasks for a request", f.Fanout, maxMany}, {"outstanding requests", f.Outstanding, maxMany}, {"types", f.Types, maxMany}} {
		if c.value < 1 || c.value > c.max {
			return fmt.Errorf("a farm with %d %s: want 1 to %d", c.value, c.name, c.max)
		}
	}
	return checkSize(f.Size)
}

// Tags: 0 to Types-1 are tasks'.
func (f Farm) requestTag() int { return f.Types }
func (f Farm) doneTag() int    { return f.Types + 1 }

// Run takes part. The result is nil on all ranks but 0.
func (f Farm) Run(ctx context.Context, c *strand.Comm) (*FarmResult, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if c.Size() < 2 {
		return nil, errors.New("a farm needs a manager and a worker: 2 ranks")
	}
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
	r := &FarmResult{Farm: f, Workers: c.Size() - 1, Seconds: time.Since(start).Seconds(), Done: m.done[1:]}
	r.BytesPerSecond = float64(f.Tasks) * float64(f.Size) / r.Seconds
	return r, nil
}
