package local

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A terminal stops a background process group that reads from it, and ranks
// are in groups of their own. So rank 0 gets a terminal's input through a pipe;
// any other input is handed over as it is, which takes no more of it than rank
// 0 reads.

// inputFor returns rank 0's standard input, nil for /dev/null, and what to call
// when the job is over.
func inputFor(stdin *os.File) (input *os.File, release func(), err error) {
	if stdin == nil || !term.IsTerminal(int(stdin.Fd())) {
		return stdin, func() {}, nil
	}
	return pump(stdin)
}

// pump copies a terminal's input into a pipe until it ends or is released.
func pump(terminal *os.File) (input *os.File, release func(), err error) {
	input, into, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	stop, stopped, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, input.Close(), into.Close())
	}
	var copying sync.WaitGroup
	copying.Go(func() { copyTerminal(into, int(terminal.Fd()), int(stop.Fd())) })
	return input, func() {
		_ = stopped.Close() // wakes the poll
		_ = into.Close()    // and a write to a rank that does not read
		copying.Wait()
		_ = stop.Close()
		_ = input.Close()
	}, nil
}

// copyTerminal never blocks in a read: a terminal's can not be interrupted.
func copyTerminal(into *os.File, terminal, stop int) {
	defer into.Close()
	buf := make([]byte, 4<<10)
	for {
		ready := []unix.PollFd{{Fd: int32(terminal), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		} else if err != nil || ready[1].Revents != 0 {
			return
		}
		n, err := unix.Read(terminal, buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		if _, err := into.Write(buf[:n]); err != nil {
			return
		}
	}
}
