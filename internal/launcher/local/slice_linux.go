package local

import "golang.org/x/sys/unix"

// rankSlice is for how long a rank computes, in nanoseconds, before another thread that is woken on its processor may have that: the shortest slice that Linux gives (sched_setattr(2), sched_runtime; since 6.12).
// A rank that waits and is woken where another computes would come to its message when the slice of that is over, 3 ms later, while the message itself
// took a microsecond. Slices say how soon who has something to do comes to do it. What share of the time each has they leave alone.
const rankSlice = 100_000

// sliced calls start on a thread with the slice of ranks, unless the user has chosen another one, or another way of scheduling. A child that start forks inherits that. The
// caller has locked the thread. Older systems have one slice for all.
func sliced(start func() error) error {
	own, err := unix.SchedGetAttr(0, 0)
	if err != nil || own.Policy != unix.SCHED_NORMAL || !systemSlice(own.Runtime) {
		return start()
	}
	ranks := *own
	ranks.Runtime = rankSlice
	if unix.SchedSetAttr(0, &ranks, 0) == nil {
		own.Runtime = 0 // as it was: the system's
		defer func() { _ = unix.SchedSetAttr(0, own, 0) }()
	}
	return start()
}

// systemSlice reports whether a slice is the one that the system gives, as far as the first process tells.
func systemSlice(slice uint64) bool {
	first, err := unix.SchedGetAttr(1, 0)
	return err == nil && slice == first.Runtime
}
