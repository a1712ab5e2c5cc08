package wireup

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
)

// patient is a transport, and its host and loop, in which a millisecond passes with each wait.
type (
	patient     struct{ Transport }
	patientHost struct{ btl.Host }
	patientLoop struct{ btl.Loop }
	noTimer     struct{}
)

func (patient) Linger()                                   { <-time.After(time.Millisecond) }
func (patientHost) Loop() btl.Loop                        { return patientLoop{} }
func (patientLoop) After(time.Duration, func()) btl.Timer { return noTimer{} }
func (patientLoop) Now() int64                            { return 0 }
func (noTimer) Stop()                                     {}

// A guest is a connection that leaves. It is confirmed after some time, or goes by itself.
type guest struct {
	t             *testing.T
	m             *Manager
	confirmed     time.Time
	alone         bool // it goes by itself
	worked, ended time.Time
}

func (g *guest) Work() bool {
	g.worked = time.Now()
	if g.alone && !g.worked.Before(g.confirmed) {
		g.m.Left(g)
	}
	return false
}

func (g *guest) Confirmed() bool {
	assert.Zero(g.t, g.ended, "nothing is called after the end")
	return !g.alone && !time.Now().Before(g.confirmed)
}

func (g *guest) End() { g.ended = time.Now() }

// Closing waits until all is confirmed, for as long as the transport says at most. Each connection
// reads what has come before it ends: the system drops what it has not sent if something is unread
// when a socket is closed.
func TestFarewell(t *testing.T) {
	const tick = time.Millisecond
	for _, c := range []struct {
		farewell, confirmed, ends time.Duration
		alone                     bool
	}{
		{0, 10 * tick, 10 * tick, false},
		{0, 10 * tick, 10 * tick, true},
		{0, time.Hour, farewell + tick, false},
		{2 * time.Second, time.Second, time.Second, false},
		{2 * time.Second, time.Hour, 2*time.Second + tick, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			m := NewManager(patientHost{}, patient{}, Config{Farewell: c.farewell})
			g := &guest{t: t, m: m, confirmed: start.Add(c.confirmed), alone: c.alone}
			m.Leave(g)
			m.Close()
			assert.Equal(t, c.ends, g.ended.Sub(start))
			assert.Equal(t, g.ended, g.worked, "what has come is read before the end")
		})
	}
}

// A late loop is one whose process is stopped now and then.
type (
	lateLoop struct {
		btl.Loop
		now  int64
		fire func()
	}
	lateHost struct {
		btl.Host
		l *lateLoop
	}
)

func (h lateHost) Loop() btl.Loop { return h.l }
func (l *lateLoop) Now() int64    { return l.now }
func (*lateLoop) Stop()           {}

func (l *lateLoop) After(_ time.Duration, f func()) btl.Timer {
	l.fire = f
	return l
}

// passes has time pass, of which nothing else sees anything.
func (l *lateLoop) passes(d time.Duration) {
	l.now += int64(d)
	l.fire()
}

// A connection whose process was stopped while it left is not at its end before it could work.
func TestWhoWasStoppedLeavesLater(t *testing.T) {
	l := new(lateLoop)
	m := NewManager(lateHost{l: l}, patient{}, Config{})
	g := &guest{t: t, m: m}
	m.Leave(g)
	l.passes(10 * time.Second)
	assert.Zero(t, g.ended)
	assert.Len(t, m.Leaving(), 1)
	l.passes(time.Second)
	assert.NotZero(t, g.ended)
	assert.Empty(t, m.Leaving())
}
