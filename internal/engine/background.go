package engine

import "time"

// maxTick bounds the time between ticks while someone polls all the time: then
// a tick finds nothing to do and should come rarely.
const maxTick = time.Millisecond

// armTick makes sure that a tick comes: within the short interval if something
// waits for it, else within the long one. The lock is held.
func (e *Engine) armTick(short bool) {
	if e.closed || (e.tickArmed && (e.tickShort || !short)) {
		return
	}
	d := maxTick
	if short {
		d = min(e.opts.Tick, maxTick)
	}
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
	case e.epoch == e.tickEpoch:
		select {
		case e.takeRole <- struct{}{}:
		default:
		}
	default:
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
