package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is what this thread has used.
func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return now()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
