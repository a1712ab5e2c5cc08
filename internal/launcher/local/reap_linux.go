package local

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until a child has ended, but does not reap it. Until somebody does, the number
// of the child, which is also that of its group, is nobody else's. It reports whether that is
// so.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
