package bench

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spent is what the iterations of an order took in one process.
type spent struct {
	exchange     time.Duration // until all messages had come
	began, ended time.Duration // by the host's clock, which all its processes share
	processor    time.Duration // of all threads of the process, meanwhile
	computed     time.Duration // before bursts
	beside       time.Duration // of all other threads of the process, meanwhile
}

// rounds makes the iterations of an order and returns what they took, without the warm-up. Before
// each iteration of a burst the process computes and then all processes meet; neither counts as
// exchange. Pairs meet once.
func (o Order) rounds(meet, round func() error) (s spent, err error) {
	if o.Workload == Burst {
		return o.bursts(meet, round)
	}
	for range o.Warmup {
		if err := round(); err != nil {
			return spent{}, err
		}
	}
	if o.Workload == Pairs || o.Workload == Coll {
		if err := meet(); err != nil {
			return spent{}, err
		}
	}
	err = s.measure(func() error {
		for range o.Iters {
			if err := round(); err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

func (o Order) bursts(meet, round func() error) (s spent, err error) {
	for i := -o.Warmup; i < o.Iters; i++ {
		if i == 0 {
			s = spent{}
		}
		s.compute(o.Pause)
		if err := meet(); err != nil {
			return spent{}, err
		}
		if err := s.measure(round); err != nil {
			return spent{}, err
		}
	}
	return s, nil
}

// measure adds what a part of the exchange takes.
func (s *spent) measure(part func() error) error {
	used, start := processorTime(), now()
	if s.exchange == 0 {
		s.began = start
	}
	if err := part(); err != nil {
		return err
	}
	s.ended = now()
	s.exchange += s.ended - start
	s.processor += processorTime() - used
	return nil
}

// compute stands for a program that computes: it uses one processor and makes no call.
func (s *spent) compute(pause time.Duration) {
	if pause == 0 {
		return
	}
	// Whoever else wants the processor has a part of the time that passes. So what others of the process take is told from what
	// the computing thread has had, and not from that time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, own, start := processorTime(), threadTime(), time.Now()
	for time.Since(start) < pause {
	}
	s.computed += time.Since(start)
	own = threadTime() - own
	s.beside += max(0, processorTime()-all-own)
}

// share is the processor time beside the computing, in percent of that.
func (s *spent) share() float64 {
	if s.computed == 0 {
		return 0
	}
	return 100 * float64(s.beside) / float64(s.computed)
}

// String is what a process answers to an order.
func (s spent) String() string {
	return fmt.Sprintf("%d %d %d %d", s.exchange, s.began, s.ended, s.processor)
}

// parseSpent reads what String wrote.
func parseSpent(line string) (s spent, err error) {
	_, err = fmt.Sscanf(line, "%d %d %d %d\n", &s.exchange, &s.began, &s.ended, &s.processor)
	if err == nil && (s.exchange <= 0 || s.ended < s.began || s.processor < 0) {
		err = fmt.Errorf("%.80q: times that can not be", line)
	}
	return s, err
}

// processorTime is what all threads of this process have used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// now is the time by a clock that all processes of the host share.
func now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
