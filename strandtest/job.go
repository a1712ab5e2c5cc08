package strandtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/launch"
)

// Job is one rank's membership in a job whose ranks live in one process.
type Job struct {
	rank  int
	board *board
}

var _ launch.Job = (*Job)(nil)

// board is what the ranks of a job share.
type board struct {
	name    string
	size    int
	mu      sync.Mutex
	values  map[string]string
	arrived int
	round   chan struct{} // closed when all have arrived
}

var jobs atomic.Int64

// NewJobs makes a job of n ranks and returns the membership of each.
func NewJobs(n int) []*Job {
	b := &board{
		name: fmt.Sprintf("test-%d-%d", os.Getpid(), jobs.Add(1)), size: n,
		values: make(map[string]string), round: make(chan struct{}),
	}
	all := make([]*Job, n)
	for rank := range all {
		all[rank] = &Job{rank, b}
	}
	return all
}

// Rank implements [launch.Job].
func (j *Job) Rank() int { return j.rank }

// Size implements [launch.Job].
func (j *Job) Size() int { return j.board.size }

// Name implements [launch.Job].
func (j *Job) Name() string { return j.board.name }

// Hostname implements [launch.Job].
func (j *Job) Hostname() string { return "localhost" }

// Launcher implements [launch.Job].
func (j *Job) Launcher() string { return "strandtest" }

// Put implements [launch.Job].
func (j *Job) Put(ctx context.Context, key, value string) error {
	given.Context(ctx)
	j.board.mu.Lock()
	defer j.board.mu.Unlock()
	j.board.values[key] = value
	return nil
}

// Get implements [launch.Job].
func (j *Job) Get(ctx context.Context, key string) (string, error) {
	given.Context(ctx)
	j.board.mu.Lock()
	defer j.board.mu.Unlock()
	if v, ok := j.board.values[key]; ok {
		return v, nil
	}
	return "", launch.ErrNoKey
}

// Barrier implements [launch.Job].
func (j *Job) Barrier(ctx context.Context) error {
	given.Context(ctx)
	b := j.board
	b.mu.Lock()
	round := b.round
	if b.arrived++; b.arrived == b.size {
		close(round)
		b.arrived, b.round = 0, make(chan struct{})
	}
	b.mu.Unlock()
	select {
	case <-round:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Abort implements [launch.Job].
func (j *Job) Abort(int, string) {}

// Close implements [launch.Job].
func (j *Job) Close() error { return nil }
