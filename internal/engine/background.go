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
	// waryCalm bounds it for a while once something has waited for a tick that came so seldom. The program
	// talks and computes by turns then, and each time what it leaves to the background goroutine would
	// wait for as long again.
	waryCalm = 2
	// waryTicks is how many needless ticks that while lasts.
	waryTicks = 1024
	// patientTicks is after how many ticks in a row the background goroutine takes over though the program goes on to make calls.
	patientTicks = 4
	// goingOn is how many calls within a tick are those of a program that does little else.
	goingOn = 2
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
	if e.callers.lent {
		d = min(d, lentTick)
	}
	e.tickArmed, e.tickShort, e.tickPolls, e.tickCalls, e.tickAfter = true, short, e.polls, e.calls, d
	e.background.tick.Store(e.poller.now() + int64(d))
	e.setAlarm()
}

// Pause has no tick come until Resume. It is for who keeps the lock for long: a tick finds it taken and is put
// off, for milliseconds at the most. A thousand processes that start on one host, and wait for each other, would have no
// time for anything else. The lock is held until Resume.
func (e *Engine) Pause() {
	e.tickArmed = false
	e.background.tick.Store(forever)
}

// Resume ends what Pause began.
func (e *Engine) Resume() {
	if e.holder == nil {
		e.armTick(e.busy.Load() > 0 || e.heldBack())
	}
}

// setAlarm has the background goroutine wake for the tick and, if it has the role, for timers. That
// wakes no thread before, as setting a timer of Go's would: a tick is armed when a program begins
// to talk. The lock is held.
func (e *Engine) setAlarm() {
	at := e.background.tick.Load()
	if e.holder == &e.background.waiter {
		at = min(at, e.next())
		if e.background.deaf {
			at = min(at, e.poller.now()+int64(longTick))
		}
	}
	if at != forever {
		e.poller.alarm(max(at-e.poller.now(), 1))
	}
}

// onTick has the background goroutine, which calls it, take the role if nobody polls as often as
// it would. Waiters that have left the role to those who poll get it back then. The lock is held.
func (e *Engine) onTick() {
	e.tickArmed = false
	e.background.tick.Store(forever)
	switch {
	case e.holder == &e.background.waiter:
	case e.holder != nil:
		// A waiter is at work; when it gives up the role it arms the tick.
		e.needless()
	case e.polledSeldom() && e.callsGoOn():
		e.holder = &e.caller
		e.pollOnce(nil)
		e.release(&e.caller)
	case e.polledSeldom():
		e.missed()
		if !e.handOver() {
			e.takeOver()
		}
	default:
		e.needless()
		e.armTick(e.busy.Load() > 0 || e.heldBack())
	}
}

// needless has ticks come more seldom: one has found that somebody polls.
func (e *Engine) needless() {
	most := maxCalm
	if e.wary > 0 {
		e.wary--
		most = waryCalm
	}
	e.calm = min(e.calm+1, most)
}

// missed has ticks come often again: one has found that nobody polls.
func (e *Engine) missed() {
	if e.calm > waryCalm && (e.busy.Load() > 0 || e.heldBack()) {
		e.wary = waryTicks
	}
	e.calm = 0
}

// polledSeldom reports whether there was less than one poll in each longTick since the tick was
// armed. A program that looks at its requests now and then leaves them alone in between.
func (e *Engine) polledSeldom() bool {
	return e.polls-e.tickPolls <= uint64((e.tickAfter-1)/longTick)
}

// callsGoOn reports whether the program has made some calls since the tick was armed, and is likely to make another one. Who
// begins one send after the other does not poll, and is about to wait. The background goroutine polls once then. If it took the role
// each frame that comes would wake it, on the program's processor. After patientTicks such ticks in a row it takes over.
func (e *Engine) callsGoOn() bool {
	if !e.tickShort || e.calls-e.tickCalls < goingOn || e.patience == patientTicks {
		e.patience = 0
		return false
	}
	e.patience++
	return true
}

// sentry is the background goroutine's part of the engine. The goroutine dozes in the poller
// whether it has the role or not. Descriptors end its doze only while it has the role. So whoever
// takes the role from it need not wake it. If woken it would fight for the lock and for a
// processor with a program that is about to send.
type sentry struct {
	waiter
	onDuty atomic.Bool  // it has the role, or the engine has closed
	tick   atomic.Int64 // when the next tick is due, or forever
	putOff int          // how often in a row a tick was put off
	aloof  bool         // it has the role, but descriptors do not end its doze for the moment
	deaf   bool         // nor do they, since the system has no room for that now: it looks at them with every tick
	active int64        // when it last did something
}

// forever is the time of what never comes.
const forever = math.MaxInt64

// takeOver gives the background goroutine the role. That calls it itself, or in a throng a waiter. The lock is held, and nobody
// else has the role.
func (e *Engine) takeOver() {
	e.holder = &e.background.waiter
	e.poller.calmDown() // a kick that no waiter has used up would end every doze
	e.background.onDuty.Store(true)
	e.background.deaf = !e.poller.attend(true)
	e.background.aloof = false
}

// unfinished reports whether there is something to do that no descriptor announces.
func (e *Engine) unfinished() bool {
	return e.heldBack() || e.posted.Load() || e.aside.watch != nil || len(e.moves) > 0
}

// runBackground is the goroutine that makes progress while nobody waits.
func (e *Engine) runBackground() {
	defer e.done.Done()
	for {
		if ready := e.poller.doze(); ready && e.standAloof() || !e.comeOnDuty() {
			continue
		}
		if e.closed {
			e.mu.Unlock()
			return
		}
		if e.poller.now() >= e.background.tick.Load() {
			e.onTick()
		}
		if e.holder == &e.background.waiter {
			e.serve()
		}
		if e.holder != &e.background.waiter {
			e.setAlarm() // the doze may have used up that of a tick, and who took the role found the tick armed
		}
		e.Unlock()
	}
}

// quietFor is how long nothing has come when the background goroutine is in no hurry.
const quietFor = int64(time.Millisecond)

// standAloof reports whether the background goroutine leaves what has come alone for a moment. When
// nothing is under way and nothing has come for a while, the first message is often that of a
// rank that has computed as long as this one, which is about to make a call then. It would find
// the lock taken. In a throng waiters give the role to the background goroutine: what it does here without the
// lock could undo that.
func (e *Engine) standAloof() bool {
	b := &e.background
	if e.opts.Throng || b.aloof || e.busy.Load() > 0 || e.poller.now()-b.active < quietFor || !b.onDuty.Load() {
		return false
	}
	b.aloof = true
	e.poller.attend(false)
	e.poller.alarm(int64(e.opts.Tick))
	return true
}

// comeOnDuty takes the lock for the background goroutine and reports true, if there is anything for
// it to do. If it lost the role as it was woken, the new holder sees the same events. If a tick is due
// while the lock is taken, somebody is at work. The tick is put off then: to ask for the lock would
// be to disturb.
func (e *Engine) comeOnDuty() bool {
	b := &e.background
	for !b.onDuty.Load() {
		tick := b.tick.Load()
		if tick == forever {
			return false
		}
		left := tick - e.poller.now()
		if left <= 0 {
			if e.mu.TryLock() {
				b.putOff = 0
				return true
			}
			e.putOffTick(tick)
			continue
		}
		e.poller.alarm(left)
		if b.tick.Load() >= tick && !b.onDuty.Load() {
			return false
		} // else this alarm has taken the place of one that was set meanwhile, and may come sooner
	}
	e.Lock()
	return true
}

// putOffTick has a tick that is due come later, unless another one was armed meanwhile.
func (e *Engine) putOffTick(tick int64) {
	b := &e.background
	later := int64(e.opts.Tick) << b.putOff
	b.putOff = min(b.putOff+1, maxCalm)
	b.tick.CompareAndSwap(tick, e.poller.now()+later)
}

// serve does all that there is to do before the background goroutine dozes. The lock is held.
func (e *Engine) serve() {
	b := &e.background
	e.blocked = false
	for {
		did := e.poll(nil)
		did = e.makeMoves() || did
		if !b.has(e) {
			return
		}
		if !did && !e.unfinished() && e.doze() {
			break
		}
		b.active = e.clock
		e.letOthersIn(0)
		if e.aside.watch != nil { // it could not be brought back
			e.letOthersIn(1)
		}
		if !b.has(e) {
			return
		}
	}
	e.blocked = true
	if b.aloof || b.deaf {
		b.aloof, b.deaf = false, !e.poller.attend(true)
	}
	e.setAlarm()
}

// has reports whether the background goroutine still has the role, after the lock was released.
func (b *sentry) has(e *Engine) bool { return e.holder == &b.waiter && !e.closed }

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
