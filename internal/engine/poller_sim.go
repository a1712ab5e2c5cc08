package engine

import (
	"errors"
	"time"
)

// simulated is a poller without descriptors: a wait is a channel operation, and
// the clock is whatever time.Now is (virtual, inside testing/synctest).
type simulated struct {
	start time.Time
	kicks chan struct{}
}

func newSimulated() poller {
	return &simulated{start: time.Now(), kicks: make(chan struct{}, 1)}
}

func (p *simulated) now() int64 { return int64(time.Since(p.start)) }

func (p *simulated) wait(_ []event, timeout int64) int {
	if timeout == 0 {
		return 0
	}
	var clock <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(time.Duration(timeout))
		defer t.Stop()
		clock = t.C
	}
	select {
	case <-p.kicks:
	case <-clock:
	}
	return 0
}

func (p *simulated) kick() {
	select {
	case p.kicks <- struct{}{}:
	default: // one is due already
	}
}

func (p *simulated) add(int, uint64) error {
	return errors.New("a simulated engine has no descriptors")
}
func (p *simulated) write(int, uint64, bool) error { return nil }
func (p *simulated) remove(int)                    {}
func (p *simulated) close()                        {}
