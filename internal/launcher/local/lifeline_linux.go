package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// A lifeline ends a process group when the launcher ends, for whatever reason. The group holds
// the reading end of a pipe, and the launcher alone the writing end. Nothing is ever written, so
// the only event at the pipe is that the launcher is gone. Then the kernel sends SIGKILL to the
// group. It knows the group itself and not its number, which another group may have by then.
// Among the processes that it reaches are those that the rank has started, which the kernel does
// not end by procAttr.
type lifeline struct{ near, far *os.File }

func newLifeline() (*lifeline, error) {
	far, near, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &lifeline{near, far}, nil
}

// theirs is the end that the rank is to inherit.
func (l *lifeline) theirs() *os.File { return l.far }

// tie tells the kernel which group to end. Call it after the rank has inherited its end: it
// closes this copy.
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

// cut closes the launcher's end, which ends what is left of the group.
func (l *lifeline) cut() {
	if l != nil {
		_ = l.near.Close()
		_ = l.far.Close() // tie has closed it if the rank was started
	}
}
