package engine

import (
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
)

const (
	// gosched is how many empty polls a spinning waiter makes before it lets Go's scheduler in,
	// where others may have nowhere else to run.
	gosched = 16
	// goschedEvery is after how much time it does so otherwise. Each time Go wakes a thread that
	// looks for work on an idle processor. There is none, and the thread takes part of the
	// time of whoever talks there: some 50 µs. A waiter that parks lets others in too.
	goschedEvery = int64(5 * time.Millisecond)
)

// letOthersIn releases the lock for a moment: to goroutines that want it and,
// after an empty poll (round > 0), to whatever else wants the processor.
func (e *Engine) letOthersIn(round int) {
	contended := e.contended.Load() > 0
	if round == 0 && !contended {
		return
	}
	e.mu.Unlock()
	switch {
	case contended || round%gosched == 0 && e.othersWait() || engines.Load() > 1:
		runtime.Gosched()
	default:
		yield()
	}
	e.enter()
}

// letWokenRun has those goroutines run that were woken. Go puts who is woken next on the processor of who wakes it, and another
// thread that would take it from there sleeps before: 60 µs, or a millisecond where clocks are coarse. The lock is held, by a waiter
// who goes on polling.
func (e *Engine) letWokenRun(w *waiter) {
	e.woken, e.started, e.away = false, false, e.waitsLong(w)
	e.mu.Unlock()
	runtime.Gosched()
	e.enter()
	e.away = e.away && e.holder != w
}

// Started has a goroutine run that was just started, and on which the program may wait, as if it had been woken. A wait does not begin with
// brief polls then, which would be in vain until it has run.
func (e *Engine) Started() {
	e.Lock()
	e.woken, e.started = true, true
	e.Unlock()
}

// longWait is how long, in nanoseconds, a waiter has waited who is likely to wait on. Whoever comes to wait while it lets others run
// takes the role from it. From one whose message comes soon nobody takes it: goroutines that all talk would
// have one message under way at a time, and each the processor for itself.
const longWait = int64(time.Millisecond)

func (e *Engine) waitsLong(w *waiter) bool { return e.clock-w.since >= longWait }

// MakeWay has goroutines run that may have waited for a processor long enough, and other processes if that is asked for. It is for who
// works for long and seldom waits here. It reports whether another goroutine waits for messages. The lock is held, and released for a moment.
func (e *Engine) MakeWay(processes bool) (company bool) {
	// Whoever has the role lets others in by itself, and notes without the lock when it did.
	goroutines := e.contended.Load() > 0 || e.woken && e.holder == nil || !e.Accompanied() && e.othersWait()
	if goroutines || processes {
		e.mu.Unlock()
		if goroutines || engines.Load() > 1 {
			runtime.Gosched()
		} else {
			yield()
		}
		e.enter()
		if e.holder == nil {
			e.woken, e.started = false, false // not before: who takes the role meanwhile lets the others run
		}
	}
	return e.Accompanied()
}

// Accompanied reports whether a goroutine has the role that waits for messages. The lock is held.
func (e *Engine) Accompanied() bool { return e.holder != nil && e.holder != &e.background.waiter }

// othersWait reports whether other goroutines may have waited for a processor long enough.
func (e *Engine) othersWait() bool {
	if now := e.poller.now(); now-e.letIn >= goschedEvery {
		e.letIn, e.lone = now, runtime.GOMAXPROCS(0) == 1
		return true
	}
	return e.lone || e.helpers > 0
}

// vain is a row of polls by Test and Iprobe that have found nothing.
type vain struct {
	polls  int
	offers bool  // the processor has been offered after one of them
	from   int64 // when it began
	last   int64 // when the last of them was
	until  int64 // nothing is offered before
}

// littleElse is how long after a poll the next one comes of who does little else.
const littleElse = int64(20 * time.Microsecond)

// slowOffers is for how many times as long as a slow offer took nothing is offered after it, so that those who compute have a fifth of
// the time by that at most.
const slowOffers = 4

// giveWay offers the processor to others when one polls in vain for as long as a waiter does before it offers it, and does little
// else. The rank that is to send may wait for this processor, and would have it when a slice of the system's is over, after some
// milliseconds. Nothing is offered while waits park, nor for some time after an offer that was slow: those who compute take too long, and
// who polls can not park. Where other ranks are goroutines of this process they have no processor but this one: each that kept it for as long as the offers of the others were slow
// would make those slower. The lock is held, and released for a moment.
func (e *Engine) giveWay(did bool, source btl.Poller) {
	v := &e.vain
	if did || e.clock-v.last > littleElse {
		*v = vain{from: e.clock, until: v.until}
	}
	v.last = e.clock
	if did {
		return
	}
	if v.polls++; e.quick(v.polls, v.from) {
		return
	}
	if engines.Load() <= 1 && (e.clock < v.until || e.yields.mustPark(e.poller.now)) {
		return
	}
	if !v.offers {
		v.offers = true
		e.settle(false)
	}
	now := e.poller.now()
	e.MakeWay(true)
	v.last = e.poller.now()
	if took := v.last - now; took > e.yields.slow() {
		v.until = v.last + slowOffers*took
	}
	e.noteOffer(v.from, v.last, v.last-now, source)
}

// settle notes where the caller is, which is about to offer its processor, and whether it waits.
func (e *Engine) settle(waits bool) {
	if e.move != nil {
		e.company.noteProcessor()
		e.nearby.settle(waits)
	}
}

// noteOffer notes for how long others had the processor of one who spins since from.
func (e *Engine) noteOffer(from, now, took int64, source btl.Poller) {
	if !e.keptApart(from, now, took, source) {
		e.yields.observe(now, took)
	}
}
