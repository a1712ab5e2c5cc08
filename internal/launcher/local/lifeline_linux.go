package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// A lifeline ends a process group with the launcher, whatever ends that. The group holds
// one end of a pipe into which nothing is ever written, and the launcher alone the other.
// The kernel is asked to send SIGKILL to the group when something happens at the pipe, and
// what happens is that the launcher is gone. It knows the group by itself and not by its number, which
// may have become another's, and reaches whom the rank has started: those that the kernel does not
// end with the launcher as it ends the rank.
type lifeline struct{ near, far *os.File }

func newLifeline() (*lifeline, error) {
	far, near, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &lifeline{near, far}, nil
}

// theirs is for the rank to inherit.
func (l *lifeline) theirs() *os.File { return l.far }

// tie names the group. The rank has its end by now.
func (l *lifeline) tie(group int) error {
	fd := l.far.Fd()
	_, err := unix.FcntlInt(fd, unix.F_SETOWN, -group)
	if err == nil {
		_, err = unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGKILL))
	}
	flags := 0
	if err == nil {
		flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0)
	}
	if err == nil {
		_, err = unix.FcntlInt(fd, unix.F_SETFL, flags|unix.O_ASYNC)
	}
	_ = l.far.Close()
	return os.NewSyscallError("fcntl", err)
}

// cut ends what is left of the group.
func (l *lifeline) cut() {
	if l != nil {
		_ = l.near.Close()
		_ = l.far.Close() // it is closed, if the rank was started
	}
}
