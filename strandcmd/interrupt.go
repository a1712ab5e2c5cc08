package strandcmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that a signal ends, with an interruptError as its
// cause. A second signal ends the process at once.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup ignores SIGHUP, and it stays ignored
			signal.Notify(signals, s)
		}
	}
	over := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if !first {
					os.Exit(interruptError(number).ExitStatus())
				}
				cancel(interruptError(number))
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
	}
}

// An interruptError is the signal that has ended a command.
type interruptError syscall.Signal

func (e interruptError) Error() string { return fmt.Sprintf("ended by %v", syscall.Signal(e)) }

// ExitStatus is 128 and the signal's number, as shells have it.
func (e interruptError) ExitStatus() int { return 128 + int(e) }
