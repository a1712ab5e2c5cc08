package world

import (
	"errors"
	"sync"

	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/strandtest"
)

// ToldJobs are the ranks of a job within this process whose launcher tells the others of one
// that has aborted.
func ToldJobs(n int) (jobs []launch.Job) {
	all := &tidings{ranks: make(map[int]launch.Callbacks)}
	for _, j := range strandtest.NewJobs(n) {
		jobs = append(jobs, &told{j, all})
	}
	return jobs
}

// tidings are what the launcher of a job within this process has to tell: it tells the others
// of a rank that has aborted.
type tidings struct {
	mu     sync.Mutex
	ranks  map[int]launch.Callbacks
	failed []*launch.Failure
}

// told is a rank of such a job.
type told struct {
	*strandtest.Job
	*tidings
}

func (j *told) Listen(c launch.Callbacks) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ranks[j.Rank()] = c
	for _, f := range j.failed {
		c.Failed(f)
	}
}

func (j *told) Warn(string) error { return errors.New("nobody looks") }
func (j *told) CanCall() bool     { return false }
func (j *told) Call(int) error    { return errors.New("it can not call") }

func (j *told) Abort(_ int, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := &launch.Failure{Rank: j.Rank(), Host: j.Hostname(), Launcher: "strandtest", How: message}
	j.failed = append(j.failed, f)
	for rank, c := range j.ranks {
		if rank != j.Rank() {
			c.Failed(f)
		}
	}
}
