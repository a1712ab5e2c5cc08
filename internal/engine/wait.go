package engine

import (
	"context"
	"time"

	"github.com/strandmp/strand/btl"
)

// A Condition is something to wait for. Its methods are called under the
// engine's lock.
type Condition interface {
	// Done reports whether the wait is over.
	Done() bool
	// Park is told whom to [Engine.Wake] when the condition comes true; nil
	// takes that back.
	Park(*Waiter)
}

// A Waiter is a goroutine that is parked.
type Waiter = waiter

type waiter struct {
	ch        chan struct{}   // has room for one
	next      *waiter         // in the free list, or in the queue
	prev      *waiter         // in the queue
	queued    bool            // parked on ch, in the engine's queue
	condition Condition       // what it waits for
	ctx       context.Context // if it can end
	stop      func() bool     // takes back the call of cancel when the context ends
	cancelled bool            // its context has ended
	since     int64           // when it began to wait
	events    [16]event       // what its blocking wait returned
}

func (e *Engine) newWaiter() *waiter {
	w := e.idle
	if w == nil {
		return &waiter{ch: make(chan struct{}, 1)}
	}
	e.idle = w.next
	e.spare--
	w.next = nil
	return w
}

func (e *Engine) freeWaiter(w *waiter) {
	w.condition, w.ctx, w.stop, w.cancelled = nil, nil, nil, false
	select {
	case <-w.ch: // a wake that came too late
	default:
	}
	if e.spare < keptWaiters {
		w.next, e.idle = e.idle, w
		e.spare++
	}
}

// keptWaiters is how many waiters are kept for reuse. The memory of further ones, which a peak
// has needed, is given back.
const keptWaiters = 1024

// Wake makes a parked waiter look at its condition again. The lock is held.
func (e *Engine) Wake(w *Waiter) {
	if e.holder == w && e.blocked {
		e.interrupt()
		return
	}
	w.wake()
	e.woken = true
}

func (w *waiter) wake() {
	select {
	case w.ch <- struct{}{}:
	default: // one is due already
	}
}

// Wait blocks until the condition is done, making progress meanwhile, or until
// the context ends, whose error it then returns. The lock is held by the caller,
// released while waiting, and held again on return. Source, if not nil, is the
// endpoint from which the condition is expected to come true. An up-call must not
// wait.
func (e *Engine) Wait(ctx context.Context, c Condition, source btl.Poller) error {
	return e.wait(ctx, c, source, false)
}

// WaitBeside is Wait for a goroutine of the library's, beside the program's own. While the program polls by itself it leaves the role to that.
func (e *Engine) WaitBeside(ctx context.Context, c Condition, source btl.Poller) error {
	return e.wait(ctx, c, source, true)
}

func (e *Engine) wait(ctx context.Context, c Condition, source btl.Poller, beside bool) error {
	if c.Done() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.closed {
		return ErrClosed
	}
	if e.polling {
		panic("engine: wait within an up-call")
	}
	e.waiting++
	defer e.leave()
	leaves := beside && e.isPolled()
	has, empty := !leaves && e.takesRole(source), 0
	if has {
		var done bool
		if empty, done = e.waitBriefly(c, source); done {
			return nil
		}
	}
	source = e.inCrowd(source)
	w := e.newWaiter()
	w.condition, w.since = c, e.poller.now()
	if ctx.Done() != nil {
		w.ctx = ctx
	}
	if has {
		e.holder = w
	}
	for !c.Done() && !w.cancelled {
		if len(e.moves) > 0 {
			e.makeMoves()
			w.cancelled = w.cancelled || w.ctx != nil && w.ctx.Err() != nil // one may lead to the next for as long as a peer goes on
			continue
		}
		if e.holder == &e.background.waiter {
			e.evictBackground()
		}
		if beside && e.holder == nil && e.isPolled() {
			e.leaveToCaller(w, c)
			continue
		}
		if e.holder == nil || e.away {
			e.take(w)
		}
		if e.holder == w {
			if e.work(w, c, source, empty); e.holder == w {
				break
			}
			continue // somebody has taken the role, and may have done what was waited for
		}
		e.callers.lent = false
		e.parkInQueue(w, c)
	}
	e.nearby.over()
	if e.holder == w {
		e.release(w)
	}
	cancelled := w.cancelled
	if w.stop == nil || w.stop() {
		e.freeWaiter(w)
	} // else cancel has been called with w, or will be: w must not be used again
	if cancelled && !c.Done() {
		return ctx.Err()
	}
	return nil
}

// EachWait calls f for what goroutines wait for whose contexts can end. The lock is held.
func (e *Engine) EachWait(f func(Condition, context.Context)) {
	tell := func(w *waiter) {
		if w != nil && w.ctx != nil {
			f(w.condition, w.ctx)
		}
	}
	tell(e.holder)
	for w := e.queue.first; w != nil; w = w.next {
		tell(w)
	}
}

const (
	// briefPolls is how many empty polls in a row, and briefRounds how many polls in all, a wait
	// makes before it becomes one that others know of.
	briefPolls  = clockPolls - 1
	briefRounds = 256
	// memoryPolls is briefPolls where a poll looks at memory alone. As long as a round trip takes there the next message is noticed sooner than by a waiter that
	// others know of, each of whose polls looks at more.
	memoryPolls = 4*clockPolls - 1
	// modulesEvery is at every how many of them the modules are asked, if nothing is held back.
	modulesEvery = 8
)

// futile reports whether polling is not worth it even for a moment: where yields take long and who is to send has no processor but the
// waiter's, mostly none of its own, or is another goroutine of this process.
func (e *Engine) futile() bool {
	return e.opts.Spin <= 0 || e.yields.length != 0 && (e.opts.Crowded || e.yields.bound || e.helpers > 0 || engines.Load() > 1)
}

// takesRole takes the role for the beginning of a wait, if it is to be had and polling is worth it.
func (e *Engine) takesRole(source btl.Poller) bool {
	if source == nil || e.started || e.futile() || len(e.moves) > 0 {
		return false
	}
	if e.holder == &e.background.waiter {
		e.evictBackground()
	}
	if e.holder != nil && !e.away {
		return false
	}
	e.take(&e.caller)
	return true
}

// take gives the role to one who waits.
func (e *Engine) take(w *waiter) {
	e.holder, e.away = w, false
	e.callers.wanted, e.callers.lent = false, false
}

// waitBriefly is the beginning of a wait, and mostly all of it. There is no waiter: nobody has to wake
// who polls. Between two messages over shared memory every step counts, so the source is asked first, and
// the modules now and then. A move, for which the lock would be released, ends it. If the condition is not done at
// the end the caller still has the role, after so many empty polls.
func (e *Engine) waitBriefly(c Condition, source btl.Poller) (empty int, done bool) {
	most := e.brief
	for round := 0; round < briefRounds && e.contended.Load() == 0 && len(e.moves) == 0; round++ {
		if empty == most {
			if most = e.mostBriefly(source); empty >= most {
				break
			}
		}
		empty++
		if e.pollSource(source) {
			empty = 0
		}
		if c.Done() {
			e.noteWait(source)
			e.release(&e.caller)
			return empty, true
		}
		if empty > 0 {
			breath(source)
		}
	}
	return empty, false
}

// mostBriefly is how many empty polls in a row a brief wait for that source makes, if it has made e.brief.
func (e *Engine) mostBriefly(source btl.Poller) int {
	if _, system := source.(btl.Watched); system || e.opts.Crowded || e.yields.shared != 0 || engines.Load() > 1 {
		return e.brief
	}
	return memoryPolls
}

// Briefly polls the source for a moment, and reports whether the condition came true. The lock is held all the time, so that
// nobody else sees what the caller waits for. The condition is not parked.
func (e *Engine) Briefly(c Condition, source btl.Poller) bool {
	if e.closed || e.polling || e.queue.first != nil || !e.takesRole(source) {
		return false // who waits for the role would be woken for each moment that was in vain
	}
	_, done := e.waitBriefly(c, source)
	if !done {
		e.release(&e.caller)
	}
	return done
}

// pollSource is poll for who expects something from the source in a moment.
func (e *Engine) pollSource(source btl.Poller) bool {
	e.glances++
	if e.glances%modulesEvery == 0 || e.heldBack() || e.dozing || e.posted.Load() || e.aside.watch != nil {
		return e.poll(source)
	}
	e.epoch++
	e.polls++
	e.polling = true
	did := source.Poll()
	if e.lookIsDue() {
		did = e.pollDescriptors(source) || did
	}
	e.polling = false
	return did
}

// inCrowd is the source that a longer wait polls. In a crowd others have mostly sent by the time that a rank runs
// again, so that one look at all descriptors tells it more than a poll of the source's, for as much.
func (e *Engine) inCrowd(source btl.Poller) btl.Poller {
	if _, ok := source.(btl.Watched); ok && e.opts.Crowded {
		return nil
	}
	return source
}

// leave notes that a wait has ended; the last one lets Close go on.
func (e *Engine) leave() {
	e.waiting--
	if e.waiting == 0 && e.gone != nil {
		close(e.gone)
		e.gone = nil
	}
}

// heedContext has the waiter woken when its context ends. It is for waiters that
// block. One that spins looks at the context itself: this would cost more than its wait.
func (e *Engine) heedContext(w *waiter) {
	if w.ctx != nil && w.stop == nil {
		w.stop = context.AfterFunc(w.ctx, func() { e.cancel(w) })
	}
}

// cancel ends the wait of w, because its context has ended.
func (e *Engine) cancel(w *waiter) {
	e.Lock()
	defer e.Unlock()
	w.cancelled = true
	e.Wake(w)
}

// parkInQueue waits until the condition may have come true or w has been handed
// the role.
func (e *Engine) parkInQueue(w *waiter, c Condition) {
	e.heedContext(w)
	e.queue.push(w)
	c.Park(w)
	e.Unlock()
	<-w.ch
	e.Lock()
	c.Park(nil)
	e.queue.remove(w)
	if e.holder == w {
		e.away = false
	}
}

// release gives up the role, to a parked waiter if there is one that has not left it to those who poll by themselves.
func (e *Engine) release(w *waiter) {
	if e.holder != w {
		return
	}
	e.endRound()
	e.holder = nil
	if !e.callers.lent && e.handOver() {
		return
	}
	if !e.closed {
		e.armTick(e.busy.Load() > 0 || e.heldBack())
	}
}

// handOver gives the role to the first of the parked waiters, if there is one.
func (e *Engine) handOver() bool {
	next := e.queue.first
	if next == nil {
		return false
	}
	e.queue.remove(next)
	e.take(next)
	e.away = e.waitsLong(next)
	next.wake()
	return true
}

// endRound sends the frames that up-calls have held back, at the end of a wait or poll. What follows
// belongs to the program's next step, and must not wait behind them.
func (e *Engine) endRound() {
	if len(e.deferred) > 0 {
		e.polling = true
		e.flushDeferred()
		e.polling = false
	}
	e.epoch++
}

// A waiter makes quickPolls empty polls, and has polled for quickSpin, before it offers the
// processor to others after each further one. What it waits for mostly comes sooner. An offer
// takes as long as a poll of a descriptor, and as two short messages over shared memory. And it
// is dear if it lets in a thread that looks after something for a moment, such as the monitor of
// Go's runtime, which does so every 20 µs for milliseconds after a rest: the system then takes the
// waiter for one that has given up its turn, and lets the other in each time. That delays the peer,
// who makes an offer in turn. So quickSpin is longer than what such a thread takes. Where others have
// lately taken the processor quickPolls will do. But where they keep it for long no offer is made: the waiter parks, and first
// polls for quickSpin, since its peer has a processor much of the time (docs/decisions/0079-a-moment-before-parking.md). In a crowd it is mostly another rank that has to run before
// anything comes, and all of them wait for what a waiter polls in vain: crowdPolls will do, whatever a poll costs.
const (
	quickPolls = 64
	crowdPolls = 4
	quickSpin  = int64(100 * time.Microsecond)
)

// quick reports whether a waiter may go on polling without offering the processor, after so many
// empty polls. The first clockPolls of them were over at from.
func (e *Engine) quick(empty int, from int64) bool {
	if e.futile() {
		return false
	}
	if e.opts.Crowded {
		return empty < crowdPolls
	}
	spins := e.yields.length != 0 || e.yields.shared == 0 && !e.nearby.near && engines.Load() <= 1
	return empty < quickPolls || spins && e.clock-from < min(quickSpin, int64(e.opts.Spin))
}

// work polls until the condition is done or the wait was cancelled. The caller
// has the role, and has made so many empty polls, a few. It may have left the role when it returns.
func (e *Engine) work(w *waiter, c Condition, source btl.Poller, empty int) {
	var emptyFrom, spunFrom int64
	settled := e.move == nil
	for round := 0; ; round++ {
		did := e.poll(source)
		if len(e.moves) > 0 {
			did = e.makeMoves() || did
		}
		if w.ctx != nil && round%gosched == gosched-1 && w.ctx.Err() != nil {
			w.cancelled = true
		}
		if c.Done() || w.cancelled {
			e.noteWait(source)
			return
		}
		if e.woken {
			if e.letWokenRun(w); e.holder != w {
				return
			}
		}
		if e.callers.wanted && e.waitsLong(w) {
			if e.lend(w, c); e.holder != w {
				return
			}
			continue
		}
		if did {
			empty, emptyFrom, spunFrom = 0, 0, 0
			settled = e.move == nil
			e.letOthersIn(0)
			continue
		}
		if empty++; empty >= clockPolls && emptyFrom == 0 {
			emptyFrom = e.clock
		}
		if empty >= quickPolls && !settled {
			settled = true
			e.nearby.settle(true)
		}
		if e.quick(empty, emptyFrom) {
			if e.contended.Load() > 0 {
				e.letOthersIn(gosched)
			}
			breath(source)
			continue
		}
		now := e.poller.now()
		parks := e.helpers == 0 && e.yields.mustPark(e.poller.now)
		if spunFrom == 0 && !parks {
			spunFrom, empty = now, max(empty, quickPolls)
			e.settle(true)
		}
		if parks || now-spunFrom >= int64(e.opts.Spin) {
			if e.rest(w, c); e.holder != w {
				return
			}
			empty, emptyFrom, spunFrom = 0, 0, 0
			settled = e.move == nil
			continue
		}
		e.letOthersIn(empty)
		after := e.poller.now()
		spunFrom += e.yields.others(after - now)
		e.noteOffer(spunFrom, after, after-now, source)
	}
}

// block parks the holder in the poller until something happens.
func (e *Engine) block(w *waiter, c Condition) {
	c.Park(w)
	e.heedContext(w)
	timeout := e.untilTimer()
	e.blocked = true
	e.Unlock()
	n := e.poller.wait(w.events[:], timeout)
	e.Lock()
	c.Park(nil)
	e.blocked = false
	e.epoch++
	e.clock = e.poller.now()
	e.polling = true
	if e.dozing {
		e.rouse()
	}
	e.dispatch(w.events[:n])
	e.fire()
	e.polling = false
}
