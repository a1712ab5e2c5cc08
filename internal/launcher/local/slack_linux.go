package local

import "golang.org/x/sys/unix"

const (
	// systemSlack is how late the system may end the sleep of a thread, in nanoseconds, unless
	// somebody has chosen something else (prctl(2), PR_SET_TIMERSLACK).
	systemSlack = 50_000
	// rankSlack is the same for threads of ranks. The runtime of Go has a monitor that wakes every 20 µs
	// for a while after the program has rested, which is when ranks begin to talk. Each time costs
	// the processor of one that talks some µs, on virtual machines some ten.
	rankSlack = 1_000_000
)

// slackened calls start on a thread with the timer slack of ranks, unless the user has chosen another
// one. A child that start forks inherits that. The caller has locked the thread.
func slackened(start func() error) error {
	now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil && now == systemSlack && unix.Prctl(unix.PR_SET_TIMERSLACK, rankSlack, 0, 0, 0) == nil {
		defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, systemSlack, 0, 0, 0) }() // as it was
	}
	return start()
}
