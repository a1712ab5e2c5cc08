package remote

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// DefaultTimeout is how long the launcher goes without a sign of life from a host before it gives the host up.
const DefaultTimeout = 10 * time.Second

// How many beats without a sign of life are too many. For strand there they are more: a launcher may
// be stopped for a while.
const (
	nearBeats = 5
	farBeats  = 3 * nearBeats
)

// beatOf returns the time between two signs of life, of which the launcher misses some before a host has timed out.
func beatOf(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return max(timeout/nearBeats, time.Millisecond)
}

// An intake reads what the other side sends, whatever that is for: each byte is a sign of life. Closed it ends all that
// reads from it, at once, though what comes from the shell can not be interrupted.
type intake struct {
	*io.PipeReader
	asleep atomic.Bool  // the other side, or this one: no sign of life is missed
	silent atomic.Int32 // beats without a sign of life
}

// takeIn reads until there is an end, and then closes done.
func takeIn(from io.Reader) (in *intake, done <-chan struct{}) {
	ended := make(chan struct{})
	r, w := io.Pipe()
	in = &intake{PipeReader: r}
	go func() {
		defer close(ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				in.silent.Store(0)
				_, _ = w.Write(buf[:n]) // what nobody wants any more is read all the same: who sends it waits for that
			}
			if err != nil {
				_ = w.CloseWithError(err)
				return
			}
		}
	}()
	return in, ended
}

// await returns an error after so many beats without a sign of life, and nil when all is over. It counts beats, not time: one that was stopped itself must not take the other side for dead. It sends nothing: what nobody takes would stop it.
func (in *intake) await(over <-chan struct{}, beat time.Duration, beats int32) error {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if in.silent.Add(1) > beats && !in.asleep.Load() {
				return fmt.Errorf("no sign of life for %v", time.Duration(beats)*beat)
			}
		case <-over:
			return nil
		}
	}
}

// sleep says that a side is going to be stopped, or goes on again.
func (in *intake) sleep(yes bool) {
	in.silent.Store(0)
	in.asleep.Store(yes)
}
