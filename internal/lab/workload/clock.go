package workload

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// clock returns the time in nanoseconds by a clock that all processes of a machine have in
// common, and that nobody sets: the time of day may go back between a send and its receive.
func clock() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("the machine's clock: %w", err)
	}
	return now.Nano(), nil
}
