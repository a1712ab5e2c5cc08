package tcp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of this thread in nanoseconds.
func threadTime(t testing.TB) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return ts.Nano()
}
