package bench

import (
	"syscall"
	"time"
)

// spent is what the iterations of an order took.
type spent struct {
	exchange time.Duration // until all messages had come
	computed time.Duration // before bursts
	beside   time.Duration // of all processors, less the one on which the process computed
}

// rounds makes the iterations of an order and returns what they took, without the warm-up. Before
// each iteration of a burst the process computes and then both processes meet; neither counts as
// exchange.
func (o order) rounds(meet, round func() error) (spent, error) {
	if o.workload == Burst {
		return o.bursts(meet, round)
	}
	var start time.Time
	for i := -o.warmup; i < o.iters; i++ {
		if i == 0 {
			start = time.Now()
		}
		if err := round(); err != nil {
			return spent{}, err
		}
	}
	return spent{exchange: time.Since(start)}, nil
}

func (o order) bursts(meet, round func() error) (s spent, err error) {
	for i := -o.warmup; i < o.iters; i++ {
		if i == 0 {
			s = spent{}
		}
		s.compute(time.Duration(o.pause) * time.Microsecond)
		if err := meet(); err != nil {
			return spent{}, err
		}
		start := time.Now()
		if err := round(); err != nil {
			return spent{}, err
		}
		s.exchange += time.Since(start)
	}
	return s, nil
}

// compute stands for a program that computes: it uses one processor and makes no call.
func (s *spent) compute(pause time.Duration) {
	if pause == 0 {
		return
	}
	before, start := processorTime(), time.Now()
	for time.Since(start) < pause {
	}
	took := time.Since(start)
	s.computed += took
	s.beside += max(0, processorTime()-before-took)
}

// share is the processor time beside the computing, in percent of that.
func (s *spent) share() float64 {
	if s.computed == 0 {
		return 0
	}
	return 100 * float64(s.beside) / float64(s.computed)
}

// processorTime is what all threads of this process have used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
