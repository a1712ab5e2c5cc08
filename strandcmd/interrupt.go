package strandcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// interruptible returns a context that a signal ends, with an interruptError as its
// cause. A second signal ends the process at once. Whichever way it ends, temporary folders are removed.
func interruptible(parent context.Context, folders ...string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup ignores SIGHUP, and it stays ignored
			signal.Notify(signals, s)
		}
	}
	tidy := func() {
		for _, folder := range folders {
			_ = os.RemoveAll(folder) // what is left says itself whose it is
		}
	}
	over := make(chan struct{})
	go func() {
		i := interruption{
			now:    time.Now,
			cancel: func(e interruptError) { cancel(e) },
			exit:   func(e interruptError) { tidy(); os.Exit(e.ExitStatus()) },
		}
		for {
			select {
			case s := <-signals:
				i.heard(s)
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
		tidy()
	}
}

// twinTime is how soon after a signal another one is the same, as for strand run: timeout(1) sends two at once, one to the
// process and one to its group.
const twinTime = 100 * time.Millisecond

// An interruption is the signals that end a command: the first one cancels what it does, and another one ends the process
// before all is tidied up.
type interruption struct {
	now          func() time.Time
	cancel, exit func(interruptError)
	last         map[syscall.Signal]time.Time
}

func (i *interruption) heard(s os.Signal) {
	number, _ := s.(syscall.Signal)
	now, first := i.now(), len(i.last) == 0
	if last, twice := i.last[number]; twice && now.Sub(last) < twinTime {
		return
	}
	if first {
		i.last = map[syscall.Signal]time.Time{}
	}
	i.last[number] = now
	if first {
		i.cancel(interruptError(number))
	} else {
		i.exit(interruptError(number))
	}
}

// An interruptError is the signal that has ended a command.
type interruptError syscall.Signal

func (e interruptError) Error() string { return "ended by " + unix.SignalName(syscall.Signal(e)) }

// ExitStatus is 128 and the signal's number, as shells have it.
func (e interruptError) ExitStatus() int { return 128 + int(e) }

// continued returns a function that reports whether this process was stopped, by Ctrl-Z or otherwise, and has gone on since it was
// called last; at first since now.
func continued() (since func() bool, forget func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	return func() bool {
		select {
		case <-signals:
			return true
		default:
			return false
		}
	}, func() { signal.Stop(signals) }
}
