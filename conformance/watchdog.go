package conformance

import (
	"sync"
	"time"
)

// A watchdog ends a case in which nothing happens. It counts quiet moments, not
// time, so that a process that was stopped for a while does not count as a hang, nor
// does a slow machine.
type watchdog struct {
	t       *trial
	overdue chan struct{} // closed if the case does not end after it has expired

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	events  uint64 // at the last moment
	quiet   int    // moments without an event
	moments int    // all
	expired int    // since expiry
}

const (
	momentsQuiet = 10  // moments without an event that are a hang
	momentsMost  = 100 // moments that a case may take, whatever happens
	momentsGrace = 10  // from expiry until the case counts as stuck
)

func (t *trial) watch() *watchdog {
	d := &watchdog{t: t, overdue: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(t.opts.timeout/momentsQuiet, d.moment)
	return d
}

func (d *watchdog) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
}

func (d *watchdog) moment() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.t.mu.Lock()
	events := d.t.events
	d.t.mu.Unlock()
	d.quiet++
	if events != d.events {
		d.events, d.quiet = events, 0
	}
	d.moments++
	if d.quiet >= momentsQuiet || d.moments >= momentsMost {
		d.t.expire()
		if d.expired++; d.expired > momentsGrace {
			d.stopped = true
			close(d.overdue)
			return
		}
	}
	d.timer.Reset(d.t.opts.timeout / momentsQuiet)
}

// expire ends the case at its next wait.
func (t *trial) expire() {
	t.mu.Lock()
	t.expired = true
	t.tell()
	t.mu.Unlock()
}

// happened notes that the case goes on.
func (t *trial) happened() {
	t.mu.Lock()
	t.events++
	t.mu.Unlock()
}
