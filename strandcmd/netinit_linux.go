package strandcmd

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// netGrace is how long a command has to end when it is told to.
const netGrace = 5 * time.Second

// runWithNet runs the command and returns how it ended. This process is the first one of its
// namespace: what loses its parent there becomes its child, and is to be waited for too.
func runWithNet(ctx context.Context, d netDescription, command []string, terminal bool) error {
	environ, err := d.environ()
	if err != nil {
		return err
	}
	c, err := start(command, environ, terminal)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go endWhenAsked(ctx, c.Pid, over)
	status, err := waitAsInit(c)
	if signal, interrupted := errors.AsType[interruptError](context.Cause(ctx)); interrupted {
		return signal
	}
	return errors.Join(err, asError(status))
}

// endWhenAsked ends the command's group: shells end at SIGHUP, other programs at SIGTERM, what
// is stopped at neither before it goes on.
func endWhenAsked(ctx context.Context, group int, over <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-over:
		return
	}
	for _, s := range []syscall.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGCONT} {
		_ = unix.Kill(-group, s) // or it has ended
	}
	grace := time.NewTimer(netGrace)
	defer grace.Stop()
	select {
	case <-grace.C:
		_ = unix.Kill(-group, unix.SIGKILL)
	case <-over:
	}
}

// waitAsInit waits for all children until the command has ended, and returns its status. The
// command goes on when its terminal stops it, since no shell above it could tell it to.
func waitAsInit(command *os.Process) (status int, err error) {
	for {
		var s unix.WaitStatus
		pid, err := unix.Wait4(-1, &s, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR), err == nil && pid != command.Pid:
			continue
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case s.Stopped() && s.StopSignal() == unix.SIGTSTP:
			_ = unix.Kill(-command.Pid, unix.SIGCONT) // it is there: nobody else waits for it
		case s.Stopped(): // by whoever lets it go on
		case s.Signaled():
			return 128 + int(s.Signal()), command.Release()
		default:
			return s.ExitStatus(), command.Release()
		}
	}
}
