package overdue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/overdue"
)

// A loop is a clock that a test sets, and one timer.
type loop struct {
	btl.Loop
	now, due int64
	call     func()
}

func (l *loop) Now() int64 { return l.now }
func (l *loop) Stop()      { l.call = nil }

func (l *loop) After(d time.Duration, f func()) btl.Timer {
	l.due, l.call = l.now+int64(d), f
	return l
}

// at sets the clock, as a poll does.
func (l *loop) at(now time.Duration) {
	l.now = int64(now)
	if f := l.call; f != nil && l.now >= l.due {
		l.call = nil
		f()
	}
}

func TestAfter(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name         string
		after, first time.Duration // the first look at the clock once it is due
		called       bool          // then
		second       time.Duration
	}{
		{"in time", 8 * second, 8 * second, true, 0},
		{"a little late", 8 * second, 9 * second, true, 0},
		{"away", 8 * second, 30 * second, false, 31 * second},
		{"away for a short time", 80 * time.Millisecond, second, false, second + 80*time.Millisecond},
	} {
		l, calls := &loop{}, 0
		overdue.After(l, c.after, func() { calls++ })
		l.at(c.after - 1)
		assert.Zero(t, calls, c.name)
		l.at(c.first)
		assert.Equal(t, c.called, calls == 1, c.name)
		if !c.called {
			l.at(c.second - 1)
			assert.Zero(t, calls, c.name)
			l.at(c.second)
			assert.Equal(t, 1, calls, c.name)
		}
	}
}

func TestStop(t *testing.T) {
	for _, away := range []bool{false, true} {
		l, calls := &loop{}, 0
		timer := overdue.After(l, time.Second, func() { calls++ })
		if away {
			l.at(10 * time.Second)
		}
		timer.Stop()
		l.at(time.Hour)
		assert.Zero(t, calls)
	}
}
