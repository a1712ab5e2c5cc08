package datagram

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// hand is a loop with one timer, whose time the test moves.
type hand struct {
	btl.Loop
	now, at int64
	f       func()
	started int
}

func (h *hand) Now() int64 { return h.now }
func (h *hand) Stop()      { h.f = nil }
func (h *hand) After(d time.Duration, f func()) btl.Timer {
	h.at, h.f = h.now+int64(d), f
	h.started++
	return h
}

// to moves the time on, and has the timer fire when it is due.
func (h *hand) to(now int64) {
	for h.f != nil && h.at <= now {
		h.now = max(h.now, h.at)
		f := h.f
		h.f = nil
		f()
	}
	h.now = now
}

// Alarms that are set, moved and taken back at random are called once for each time they are set to, never
// before it, and no later than the slack.
func TestClock(t *testing.T) {
	const ms = int64(time.Millisecond)
	h := &hand{now: ms}
	c := NewClock(h)
	r := rand.New(rand.NewPCG(3, 4))
	due := make([]int64, 50)
	alarms := make([]*Alarm, len(due))
	called := 0
	for i := range alarms {
		alarms[i] = NewAlarm(func(now int64) {
			called++
			require.NotZero(t, due[i], "it is not set")
			require.LessOrEqual(t, due[i], now, "it is early")
			require.GreaterOrEqual(t, due[i]+2*slack, now)
			due[i] = 0
			if r.IntN(3) == 0 {
				due[i] = now + ms*int64(1+r.IntN(20))
				c.Set(alarms[i], due[i])
			}
		})
	}
	for range 20_000 {
		i := r.IntN(len(alarms))
		switch r.IntN(4) {
		case 0:
			due[i] = 0
		default:
			due[i] = h.now + ms*int64(r.IntN(50)) + 1
		}
		c.Set(alarms[i], due[i])
		h.to(h.now + int64(r.IntN(int(ms))))
		for _, at := range due {
			require.True(t, at == 0 || at+2*slack >= h.now, "one is late")
		}
	}
	assert.Greater(t, called, 1000)
	for i, a := range alarms {
		due[i] = 0
		c.Set(a, 0)
	}
	h.to(h.now + 100*ms)
	assert.Nil(t, h.f, "an empty clock has no timer")
	assert.Empty(t, c.alarms)
}

// What is put off with each packet costs no timer, and nothing else that counts.
func TestClockIsNotSetForEachPacket(t *testing.T) {
	h := &hand{now: 1}
	c := NewClock(h)
	a := NewAlarm(func(int64) {})
	c.Set(a, 1e9)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		h.now += 1000
		c.Set(a, h.now+1e9)
	}))
	assert.Equal(t, 1, h.started)
}

// Who asks for a time that has passed is called at the next poll, and the others have their turn.
func TestClockGoesOn(t *testing.T) {
	h := &hand{now: 1000}
	c := NewClock(h)
	calls := 0
	var a *Alarm
	a = NewAlarm(func(now int64) {
		calls++
		c.Set(a, now)
	})
	c.Set(a, 1)
	h.to(1000)
	assert.Equal(t, 1, calls)
	h.to(2000)
	assert.Greater(t, calls, 1)
}
