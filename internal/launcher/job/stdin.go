package job

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A terminal stops a background process group that reads from it, and ranks are in groups of
// their own. So rank 0 gets a terminal's input through a pipe. Other input is handed over as it
// is: then no more of it is taken than rank 0 reads. A rank on another host can not be handed any.
// While the launcher itself is in the background, what is typed is not for it.

// inputFor returns rank 0's standard input, nil for /dev/null. Unread is told why input that has not ended can not be
// read: rank 0 takes that for its end. Call release when the job is over.
func inputFor(stdin *os.File, elsewhere bool, unread func(error)) (input *os.File, release func(), err error) {
	if stdin == nil || !elsewhere && !term.IsTerminal(int(stdin.Fd())) {
		return stdin, func() {}, nil
	}
	return pump(stdin, unread)
}

// pump copies input into a pipe until it ends or is released.
func pump(stdin *os.File, unread func(error)) (input *os.File, release func(), err error) {
	input, into, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	stop, stopped, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, input.Close(), into.Close())
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		if err := copyInput(into, int(stdin.Fd()), int(stop.Fd())); err != nil {
			unread(err)
		}
	})
	return input, func() {
		_ = stopped.Close() // wakes the poll
		_ = into.Close()    // and a write to a rank that does not read
		copying.Wait()
		_ = stop.Close()
		_ = input.Close()
	}, nil
}

// aside is how often a launcher in the background, which takes no input, looks whether it has
// come to the foreground. Nothing tells it: a shell signals only a job that was stopped.
const aside = 200 * time.Millisecond

// copyInput waits in poll and never in a read: a read of a terminal can not be interrupted. Its error is that of a read.
func copyInput(into *os.File, stdin, stop int) error {
	defer into.Close()
	keepReaderRunning()
	buf := make([]byte, 32<<10)
	for {
		stopped := unix.PollFd{Fd: int32(stop), Events: unix.POLLIN}
		ready, wait := []unix.PollFd{stopped, {Fd: int32(stdin), Events: unix.POLLIN}}, -1
		if inBackground(stdin) {
			ready, wait = ready[:1], int(aside/time.Millisecond)
		}
		n, err := unix.Poll(ready, wait)
		switch {
		case err == unix.EINTR, err == nil && n == 0:
			continue
		case err != nil || ready[0].Revents != 0:
			return nil
		}
		n, err = unix.Read(stdin, buf)
		if err == unix.EINTR || err == unix.EAGAIN || err == unix.EIO && inBackground(stdin) {
			continue
		}
		if err == unix.EBADF || err == nil && n <= 0 {
			return nil // nohup opens what can not be read
		}
		if err != nil {
			return err
		}
		if _, err := into.Write(buf[:n]); err != nil {
			return nil // nobody reads any more
		}
	}
}

// inBackground reports whether the terminal is this process's, but another process group is in
// its foreground.
func inBackground(terminal int) bool {
	foreground, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP)
	return err == nil && foreground != unix.Getpgrp()
}
