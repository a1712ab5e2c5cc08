package strandcmd

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// netGrace is the time between telling a command to end and killing it.
const netGrace = 5 * time.Second

// runWithNet runs the command and returns how it ended. This process is the first one of its PID
// namespace: a process there that loses its parent becomes its child, and has to be waited for
// too.
func runWithNet(ctx context.Context, d netDescription, command []string, terminal bool) error {
	environ, err := d.environ()
	if err == nil {
		err = context.Cause(ctx) // the network may have taken long
	}
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

// endWhenAsked ends the command's process group when the context ends. Shells end at SIGHUP,
// other programs at SIGTERM. A stopped process ends only after SIGCONT. After netGrace the group
// is killed.
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

// waitAsInit waits for all children until the command has ended, and returns its status. It
// continues a command that Ctrl-Z stops, since no shell above the command could.
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
			_ = unix.Kill(-command.Pid, unix.SIGCONT) // it exists: only this loop waits for it
		case s.Stopped(): // whoever stopped it lets it go on
		case s.Signaled():
			return 128 + int(s.Signal()), command.Release()
		default:
			return s.ExitStatus(), command.Release()
		}
	}
}
