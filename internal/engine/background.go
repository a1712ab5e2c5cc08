package engine

import "time"

const (
	// longTick is the time to the next tick while no frame is held back and no operation is
	// under way.
	longTick = time.Millisecond
	// maxCalm bounds how often that time is doubled while ticks find that someone
	// polls: on two processors, both spinning, a tick costs some 80 µs (a thread
	// wakes, and takes the place of one that spins).
	maxCalm = 6
)

// armTick makes sure that a tick comes: within the short interval if something
// waits for it, else within the long one. Both grow while ticks turn out to be
// needless. The lock is held.
func (e *Engine) armTick(short bool) {
	if e.closed || (e.tickArmed && (e.tickShort || !short)) {
		return
	}
	d := longTick
	if short {
		d = min(e.opts.Tick, longTick)
	}
	d <<= e.calm
	e.tickArmed, e.tickShort, e.tickEpoch = true, short, e.epoch
	if e.tick == nil {
		e.tick = time.AfterFunc(d, e.onTick)
		return
	}
	e.tick.Reset(d)
}

// onTick sends what was held back for too long and, if there was no poll since
// the tick was armed, has the background goroutine take the role.
func (e *Engine) onTick() {
	e.Lock()
	defer e.Unlock()
	if e.closed {
		return
	}
	e.tickArmed = false
	switch {
	case e.holder == &e.background:
		e.epoch++
		e.polling = true
		e.flushDeferred()
		e.polling = false
		if e.posted.Load() && e.blocked {
			e.poller.kick()
		}
	case e.holder != nil:
		// A waiter is at work; when it gives up the role it arms the tick.
		e.calm = min(e.calm+1, maxCalm)
	case e.epoch == e.tickEpoch:
		e.calm = 0
		select {
		case e.takeRole <- struct{}{}:
		default:
		}
	default:
		e.calm = min(e.calm+1, maxCalm)
		e.armTick(e.busy > 0 || len(e.deferred) > 0)
	}
}

// runBackground is the goroutine that makes progress while nobody waits.
func (e *Engine) runBackground() {
	defer e.done.Done()
	for range e.takeRole {
		e.Lock()
		if e.holder == nil && !e.closed {
			e.holder = &e.background
			for e.holder == &e.background && !e.closed {
				e.block(&e.background, nil)
				e.letOthersIn(0)
			}
			if e.closed && e.holder == &e.background {
				e.holder = nil
			}
		}
		e.Unlock()
	}
}

// evictBackground takes the role from the background goroutine, which notices
// when it wakes.
func (e *Engine) evictBackground() {
	if e.blocked {
		e.blocked, e.evicting = false, true
		e.poller.kick()
	}
	e.holder = nil
}
