package local

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bound calls start on a thread that is bound to the processor. A child that start forks
// inherits that. The caller has locked the thread.
func bound(processor int, start func() error) error {
	if processor < 0 {
		return start()
	}
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	one.Set(processor)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("can not be bound to processor %d: %w", processor, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }() // what was allowed is allowed
	return start()
}

// Turn returns the processor for the n-th rank of this host if ranks are to be bound, those that
// this process may use in turn, and -1 if not.
func Turn(bind bool, n int) int {
	var set unix.CPUSet
	if !bind || unix.SchedGetaffinity(0, &set) != nil || set.Count() == 0 {
		return -1
	}
	n %= set.Count()
	for processor := 0; ; processor++ {
		if set.IsSet(processor) {
			if n == 0 {
				return processor
			}
			n--
		}
	}
}
