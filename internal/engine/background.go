package engine

import (
	"math"
	"sync/atomic"
	"time"
)

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
	e.tickArmed, e.tickShort, e.tickPolls, e.tickAfter = true, short, e.polls, d
	if e.tick == nil {
		e.tick = time.AfterFunc(d, e.onTick)
		return
	}
	e.tick.Reset(d)
}

// onTick sends what was held back for too long and, if nobody polls as often as the background
// goroutine would, has that take the role.
func (e *Engine) onTick() {
	e.Lock()
	defer e.Unlock()
	if e.closed {
		return
	}
	e.tickArmed = false
	switch {
	case e.holder == &e.background.waiter:
		e.epoch++
		e.polling = true
		e.flushAll()
		e.polling = false
		if e.posted.Load() && e.blocked {
			e.interrupt()
		}
	case e.holder != nil:
		// A waiter is at work; when it gives up the role it arms the tick.
		e.calm = min(e.calm+1, maxCalm)
	case e.polledSeldom():
		e.calm = 0
		e.takeOver()
	default:
		e.calm = min(e.calm+1, maxCalm)
		e.armTick(e.busy > 0 || e.heldBack())
	}
}

// polledSeldom reports whether there was less than one poll in each longTick since the tick was
// armed. A program that looks at its requests now and then leaves them alone in between.
func (e *Engine) polledSeldom() bool {
	return e.polls-e.tickPolls <= uint64((e.tickAfter-1)/longTick)
}

// sentry is the background goroutine's part of the engine. The goroutine dozes in the poller
// whether it has the role or not. Descriptors end its doze only while it has the role. So whoever
// takes the role from it need not wake it. If woken it would fight for the lock and for a
// processor with a program that is about to send.
type sentry struct {
	waiter
	onDuty atomic.Bool  // it has the role, or the engine has closed
	until  atomic.Int64 // when its doze ends by itself
}

// forever is the end of a doze that only a descriptor or a call ends.
const forever = math.MaxInt64

// takeOver gives the background goroutine the role. It is not woken if there is nothing to do
// yet. The lock is held, and nobody has the role.
func (e *Engine) takeOver() {
	e.holder = &e.background.waiter
	more := e.poll(nil) || !e.doze()
	e.poller.calmDown() // a kick that no waiter has used up would end every doze
	e.blocked = true
	e.background.onDuty.Store(true)
	e.poller.attend(true)
	if more || e.unfinished() || e.next() < e.background.until.Load() {
		e.interrupt()
	}
}

// unfinished reports whether there is something to do that no descriptor announces.
func (e *Engine) unfinished() bool {
	return e.heldBack() || e.posted.Load() || e.aside.watch != nil
}

// runBackground is the goroutine that makes progress while nobody waits.
func (e *Engine) runBackground() {
	defer e.done.Done()
	b := &e.background
	timeout := int64(-1)
	for {
		e.poller.doze(timeout)
		// The order matters: takeOver sets onDuty first, and then looks at until.
		b.until.Store(forever)
		timeout = -1
		if !b.onDuty.Load() {
			continue // it lost the role as it was woken; the new holder sees the same events
		}
		e.Lock()
		if e.closed {
			e.Unlock()
			return
		}
		if e.holder == &b.waiter {
			timeout = e.serve()
		}
		e.Unlock()
	}
}

// serve does all that there is to do, and returns how long the background goroutine may doze
// then. The lock is held.
func (e *Engine) serve() int64 {
	b := &e.background
	e.blocked = false
	for e.poll(nil) || e.unfinished() || !e.doze() {
		e.letOthersIn(0)
		if e.aside.watch != nil { // it could not be brought back
			e.letOthersIn(1)
		}
		if e.holder != &b.waiter || e.closed {
			return -1
		}
	}
	e.blocked = true
	b.until.Store(e.next())
	return e.untilTimer()
}

// evictBackground takes the role from the background goroutine without waking it.
func (e *Engine) evictBackground() {
	e.holder, e.blocked = nil, false
	e.background.onDuty.Store(e.closed)
	e.poller.attend(false)
}

// interrupt ends the wait of whoever has the role and is blocked.
func (e *Engine) interrupt() {
	if e.holder == &e.background.waiter {
		e.poller.rouse()
	} else {
		e.poller.kick()
	}
}
