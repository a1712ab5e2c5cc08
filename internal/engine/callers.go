package engine

import (
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
)

// callers is what the engine knows of goroutines that poll by themselves, by Test or Iprobe, while another one waits. That one has
// the role, and mostly it is blocked in the system. It would have to wake for each message of theirs, and to get a processor, which
// they do not give up as they poll on: with one processor of Go's that took tens of milliseconds. So it leaves the role
// to those who poll often, as to somebody who comes to wait, and parks. When they poll no longer a tick gives the role back.
type callers struct {
	vain   int    // calls of Poll that found another goroutine with the role
	from   int64  // when these began
	seen   uint64 // e.polls at the last of them
	wanted bool   // they were often: the holder leaves the role when it has waited for long
	lent   bool   // it has: waiters are parked, and the role is free
}

const (
	// oftenPolls within often are those of a goroutine that does little else.
	oftenPolls = 32
	often      = int64(time.Millisecond)
	// lentTick bounds how long waiters wait for the role when those whom they have left it to poll no longer.
	lentTick = longTick << waryCalm
)

// pollBeside is Poll while another goroutine has the role. If that one has not polled since the last call it waits for a processor,
// perhaps for ours. Whom the caller wakes in its place nobody else lets run. The lock is held, and released for that.
func (e *Engine) pollBeside(source btl.Poller) {
	e.askForRole()
	before, woke := e.woken, false
	if !e.blocked && e.callers.seen == e.polls {
		e.woken = false
		e.pollOnce(source)
		e.endRound()
		woke = e.woken
		e.woken = woke || before
	}
	e.callers.seen = e.polls
	if woke || e.callers.wanted {
		e.standBack(woke)
	}
}

// standBack lets those run whom the caller has woken, or else the holder of the role, which was asked to leave it: it may wait for this processor, as a goroutine
// or, on its way out of the system, as a thread. The lock is held, and released for a moment.
func (e *Engine) standBack(woke bool) {
	e.mu.Unlock()
	runtime.Gosched()
	if !woke {
		yield()
	}
	e.enter()
}

// askForRole has the holder leave the role if it is often found there by those who poll.
func (e *Engine) askForRole() {
	a := &e.callers
	if a.wanted {
		return
	}
	if a.vain == 0 {
		a.from = e.poller.now()
	}
	if a.vain++; a.vain < oftenPolls {
		return
	}
	a.vain = 0
	if e.poller.now()-a.from > often {
		return
	}
	if a.wanted = true; e.blocked {
		e.interrupt()
	}
}

// lend leaves the role to those who poll by themselves, and parks until the condition may have come true or nobody polls any more.
func (e *Engine) lend(w *waiter, c Condition) {
	if c.Done() {
		return // it came while others ran, and did not wake who was awake
	}
	e.callers.wanted, e.callers.lent = false, true
	e.tickArmed = false // the one that is armed may be far off
	e.release(w)
	if c.Done() {
		return // it was among what up-calls had held back
	}
	e.parkInQueue(w, c)
}

// isPolled reports whether the program polls by itself just now, and nobody else has the role. The lock is held.
func (e *Engine) isPolled() bool {
	return !e.Accompanied() && e.vain.last != 0 && e.poller.now()-e.vain.last < justNow
}

// justNow is how long after a poll the program may still be at it: it gives way to others between two.
const justNow = int64(100 * time.Microsecond)

// leaveToCaller leaves the role, which is free, to the program, and parks as lend does.
func (e *Engine) leaveToCaller(w *waiter, c Condition) {
	e.callers.lent, e.tickArmed = true, false
	e.armTick(e.busy.Load() > 0 || e.heldBack())
	e.parkInQueue(w, c)
}
