package engine

import (
	"errors"
	"time"
)

// simulated is a poller without descriptors: a wait is a channel operation, and
// the clock is whatever time.Now is (virtual, inside testing/synctest).
type simulated struct {
	start  time.Time
	kicks  flare
	rouses flare
	clock  *time.Timer // of the alarm
}

func newSimulated() poller {
	p := &simulated{start: time.Now(), kicks: make(flare, 1), rouses: make(flare, 1)}
	p.clock = newAlarm(p.rouses.fire)
	return p
}

func (p *simulated) now() int64 { return int64(time.Since(p.start)) }

func (p *simulated) wait(_ []event, timeout int64) int {
	if timeout != 0 {
		p.kicks.await(timeout)
	}
	return 0
}

func (p *simulated) kick()             { p.kicks.fire() }
func (p *simulated) calmDown()         { p.kicks.douse() }
func (p *simulated) doze() bool        { p.rouses.await(-1); return false }
func (p *simulated) alarm(after int64) { p.clock.Reset(time.Duration(after)) }
func (p *simulated) attend(bool) bool  { return true }
func (p *simulated) rouse()            { p.rouses.fire() }

func (p *simulated) add(int, uint64) error {
	return errors.New("a simulated engine has no descriptors")
}
func (p *simulated) write(int, uint64, bool) error { return nil }
func (p *simulated) remove(int)                    {}
func (p *simulated) close()                        { p.clock.Stop() }

// flare ends one wait. It has room for one.
type flare chan struct{}

func (f flare) fire() {
	select {
	case f <- struct{}{}:
	default: // one is due already
	}
}

// douse puts out a flare that nobody has seen.
func (f flare) douse() {
	select {
	case <-f:
	default:
	}
}

func (f flare) await(timeout int64) {
	var clock <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(time.Duration(timeout))
		defer t.Stop()
		clock = t.C
	}
	select {
	case <-f:
	case <-clock:
	}
}
