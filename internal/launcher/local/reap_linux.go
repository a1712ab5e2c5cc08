package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until a child has ended, but does not reap it. Until somebody does, the number
// of the child, which is also that of its group, is nobody else's. It reports whether that is
// so.
func awaitEnd(pid int) bool {
	_ = sleepUntilEnd(pid)
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// sleepUntilEnd waits for the end of a child in Go's poller. Who waits in waitid takes a thread, and a launcher has
// a thousand children: those threads would count towards the user's limit of processes, and towards that of address
// space. It is an error if the system has no such handles (before Linux 5.10), or no descriptor is left for one.
func sleepUntilEnd(pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	handle := os.NewFile(uintptr(fd), "child")
	defer handle.Close()
	conn, err := handle.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return err != nil && !errors.Is(err, unix.EINTR) || info.Signo != 0
	})
}
