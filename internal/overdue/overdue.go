// Package overdue has timers for processes that are away now and then.
//
// A process that was stopped, or had no processor for a while, finds its handshakes overdue when
// it comes back. So does its peer on the same machine. A process that then gives up at once may
// do so though the answer is there already. In a simultaneous open each of two ranks may give up
// the attempt that the other one keeps. So a timer that fires much too late waits for a moment
// more.
package overdue

import (
	"time"

	"github.com/strandmp/strand/btl"
)

const (
	// muchOf says what is much too late: an eighth of the timer's time.
	muchOf = 8
	// moment is how much longer such a timer waits, at most.
	moment = time.Second
)

// A timer is set once, and a second time if it fires much too late.
type timer struct{ current btl.Timer }

// Stop implements [btl.Timer].
func (t *timer) Stop() { t.current.Stop() }

// After calls f after d. If the loop comes to it much too late, it calls f a moment later still.
func After(loop btl.Loop, d time.Duration, f func()) btl.Timer {
	t := &timer{}
	due := loop.Now() + int64(d)
	t.current = loop.After(d, func() {
		if more := Moment(d, time.Duration(loop.Now()-due)); more > 0 {
			t.current = loop.After(more, f)
			return
		}
		f()
	})
	return t
}

// Moment is how much longer who has waited for d is to wait, where that was over so long ago; 0: it was not much too late.
func Moment(d, late time.Duration) time.Duration {
	if late <= d/muchOf {
		return 0
	}
	return min(d, moment)
}
