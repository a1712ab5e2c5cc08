// Package overdue has timers for processes that are away now and then.
//
// A process that was stopped, or had no processor for a while, finds its handshakes overdue
// when it comes back, and so does its peer on the same machine. Whoever gives up at once may
// do so when the answer is there already. Two ranks that connect to each other may each give
// up the attempt that the other one keeps. So a timer that fires much too late waits for a
// moment more.
package overdue

import (
	"time"

	"github.com/strandmp/strand/btl"
)

const (
	// muchOf a time is how late a timer has to be for that: an eighth of it.
	muchOf = 8
	// moment is what it gets more, at most.
	moment = time.Second
)

// A timer is one that may be set twice.
type timer struct{ current btl.Timer }

// Stop implements [btl.Timer].
func (t *timer) Stop() { t.current.Stop() }

// After calls f after d, or a moment later if nobody looked at the clock then.
func After(loop btl.Loop, d time.Duration, f func()) btl.Timer {
	t := &timer{}
	due := loop.Now() + int64(d)
	t.current = loop.After(d, func() {
		if late := time.Duration(loop.Now() - due); late > d/muchOf {
			t.current = loop.After(min(d, moment), f)
			return
		}
		f()
	})
	return t
}
