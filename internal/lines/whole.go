package lines

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// WriteAll writes all of p, however long its reader takes, and returns the error of the write. A file for which Go waits by blocking, as
// [os.Stdout] mostly is, may be made not to block meanwhile: whether it does is a property of the pipe, socket or terminal,
// which others share. So do ssh, and programs that wait in an event loop. Then a write that finds no room waits for it here.
func WriteAll(to io.Writer, p []byte) error {
	for {
		n, err := to.Write(p)
		if !errors.Is(err, syscall.EAGAIN) {
			return err
		}
		p = p[n:]
		if !awaitRoom(to) {
			return err
		}
	}
}

// awaitRoom returns when there may be room to write, or nobody is left to make any. It reports whether that can be waited for.
func awaitRoom(to io.Writer) bool {
	file, is := to.(*os.File)
	if !is {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	waited := false
	err = conn.Control(func(fd uintptr) {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		waited = err == nil || errors.Is(err, unix.EINTR)
	})
	return err == nil && waited
}
