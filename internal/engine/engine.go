package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// ErrClosed is the error of a wait that begins after the engine was closed.
var ErrClosed = errors.New("progress engine is closed")

// Options are the tunables of an engine.
type Options struct {
	// Spin is how long a waiter polls before it parks.
	Spin time.Duration
	// Tick is how long held-back frames, or a rendezvous while the program computes,
	// wait for a poll. The wait grows while ticks find that somebody polls.
	Tick time.Duration
	// Stay: the affinity of a waiter's thread is not touched, even if the thread shares its
	// processor with another one that spins.
	Stay bool
	// Crowded: ranks outnumber the processors, so that waiters share theirs wherever they are. They stay
	// there, and yield to each other for longer before they park.
	Crowded bool
	// Turn is how long a yield may take there before it is a reason to park, if that is more than crowdTurn.
	Turn time.Duration
	// Throng: they outnumber them so far that each rests most of the time. Who waits for long leaves the role to the
	// background goroutine.
	Throng bool
	// Simulated engines have no descriptors and never spin; inside
	// testing/synctest their time is virtual.
	Simulated bool
}

// A Progressor does work that no descriptor announces.
type Progressor interface {
	// Progress reports whether it did anything. It must be cheap if not.
	Progress() bool
}

var (
	_ btl.Loop   = (*Engine)(nil)
	_ btl.Helped = (*Engine)(nil)
	_ btl.Census = (*Engine)(nil)
	_ btl.Meeter = (*Engine)(nil)
)

// engines counts the engines of this process: with several, a waiter yields to
// other goroutines instead of other processes.
var engines atomic.Int32

// An Engine drives the transports of one world.
type Engine struct {
	mu        sync.Mutex
	contended atomic.Int32 // goroutines in enter that had to wait
	_         [64]byte     // everybody uses the lock's cache line, only its owner what follows

	poller    poller
	clock     int64  // the time of the last look at it
	looked    int64  // the time of the last look at the descriptors
	lookAfter int64  // how long after it the next one is due
	found     bool   // it has found something that was not the source's
	epoch     uint64 // frames of one epoch may wait for each other
	polls     uint64 // number of rounds
	calls     uint64 // how often the lock was taken
	glances   uint   // polls of a source for which the modules may wait
	brief     int    // how many empty polls in a row a brief wait makes
	holder    *waiter
	polling   bool // the holder makes up-calls
	blocked   bool // the holder waits in the poller, without the lock
	queue     waiterQueue
	woken     bool    // a parked waiter was woken, and may wait for the processor of whoever has the role
	started   bool    // a goroutine was started, likewise, and who waits may wait for it
	away      bool    // the holder has waited for long and lets others run: who waits meanwhile takes the role
	callers   callers // who polls by itself beside those that wait
	vain      vain    // who polls by itself, and finds nothing
	idle      *waiter // free list
	spare     int     // how many are on it
	deferred  []btl.Deferred
	flushing  []btl.Deferred // deferred's other buffer
	patient   []btl.Deferred // what waits for the next poll, but not for the end of a wait
	moves     []btl.Mover    // what wants to move bytes without the lock
	progress  []Progressor
	dozers    []btl.Dozer // those of them that are told when nobody polls
	dozing    bool        // they have been
	skipped   int         // polls since the last look at the clock
	timers    timerHeap
	timed     uint64 // number of timers there were
	watches   watchTable
	events    [maxEvents]event
	yields    penalty
	company   company
	move      func(taken *btl.Processors) // takes the thread to another processor, none of those; nil: it stays
	aside     aside
	opts      Options
	closed    bool
	waiting   int           // goroutines in Wait
	gone      chan struct{} // closed when the last of them leaves, for Close
	helpers   int           // goroutines of transports on which waiters depend
	letIn     int64         // when Go's scheduler was last let in
	lone      bool          // Go had one processor then
	busy      atomic.Int64  // operations that should move while the program computes

	tickArmed  bool
	tickShort  bool
	tickPolls  uint64        // e.polls when it was armed
	tickCalls  uint64        // e.calls likewise
	patience   int           // how many ticks in a row have found that the program makes calls
	tickAfter  time.Duration // from when it was armed
	calm       int           // how often the time between ticks was doubled
	wary       int           // during so many needless ticks it is doubled less often
	background sentry
	caller     waiter // stands for whoever calls Poll
	done       sync.WaitGroup

	postMu sync.Mutex
	posts  []func()
	posted atomic.Bool

	nearby neighbours
	owes   bool // the processor, to a rank that waits on it and to which something went
}

// New starts an engine. Close ends it.
func New(opts Options) (*Engine, error) {
	if opts.Simulated {
		opts.Spin = 0
		return start(opts, newSimulated()), nil
	}
	p, err := newPoller()
	if err != nil {
		return nil, fmt.Errorf("progress engine: %w", err)
	}
	look := lookPeriod(p)
	e := start(opts, p)
	e.Lock()
	e.lookAfter = look
	e.Unlock()
	return e, nil
}

// start starts an engine on a poller.
func start(opts Options, p poller) *Engine {
	e := &Engine{opts: opts, poller: p, lookAfter: soonestLook}
	if e.opts.Tick <= 0 {
		e.opts.Tick = 200 * time.Microsecond
	}
	e.brief, e.yields.bound = briefPolls, bound()
	if opts.Crowded {
		e.yields.turn, e.brief = int64(max(opts.Turn, crowdTurn)), crowdPolls-1
	}
	if !opts.Stay && !opts.Crowded {
		e.move = moveAway
	}
	engines.Add(1)
	e.done.Add(1)
	e.background.tick.Store(forever)
	go e.runBackground()
	e.mu.Lock()
	e.armTick(false)
	e.mu.Unlock()
	return e
}

// Close ends the engine. The caller does not hold the lock. It has seen to it that every wait
// can end, and that every watch and timer is stopped. Close returns when all waits have ended,
// since a thread would never come back from a poller that is closed under it.
func (e *Engine) Close() {
	e.enter()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	if e.blocked {
		e.poller.kick()
	}
	e.background.onDuty.Store(true)
	e.poller.rouse()
	var gone chan struct{}
	if e.waiting > 0 {
		gone = make(chan struct{})
		e.gone = gone
	}
	e.mu.Unlock()
	if gone != nil {
		<-gone
	}
	e.done.Wait()
	e.poller.close()
	engines.Add(-1)
}

// Lock takes the engine's lock. All state of the message layer and of the
// transports is under it.
func (e *Engine) Lock() {
	e.enter()
	e.calls++
}

// enter takes the lock, and has whoever holds it and goes on polling know that somebody waits for it. Nobody
// would be let in else as long as every poll finds something.
func (e *Engine) enter() {
	if !e.mu.TryLock() {
		e.contended.Add(1)
		e.mu.Lock()
		e.contended.Add(-1)
	}
}

// Unlock releases the lock.
func (e *Engine) Unlock() {
	for len(e.moves) > 0 {
		e.makeMoves()
	}
	owes := e.owes
	e.owes = false
	e.mu.Unlock()
	if owes && engines.Load() == 1 {
		yield()
	}
	if e.posted.Load() {
		e.seeToPosts()
	}
}

// AddProgressor has p.Progress called with every poll. If p is a [btl.Dozer] it is told when the
// engine stops polling, and when the engine polls again. If it is a [btl.Neighbourhood] it is told where waiters poll.
func (e *Engine) AddProgressor(p Progressor) {
	e.progress = append(e.progress, p)
	if d, ok := p.(btl.Dozer); ok {
		e.dozers = append(e.dozers, d)
	}
	if n, ok := p.(btl.Neighbourhood); ok {
		e.nearby.modules = append(e.nearby.modules, n)
	}
}

// ClearProgressors ends the calls of all progressors.
func (e *Engine) ClearProgressors() { e.progress, e.dozers, e.nearby = nil, nil, neighbours{} }

// doze tells the modules that nobody polls from now on, and reports whether there is nothing
// left to do.
func (e *Engine) doze() bool {
	for i, d := range e.dozers {
		if !d.Doze() {
			for _, d := range e.dozers[:i] {
				d.Wake()
			}
			return false
		}
	}
	e.dozing = len(e.dozers) > 0
	e.nearby.leave()
	return true
}

// rouse tells the modules that somebody polls again.
func (e *Engine) rouse() {
	e.dozing = false
	for _, d := range e.dozers {
		d.Wake()
	}
}

// Now implements [btl.Loop].
func (e *Engine) Now() int64 { return e.poller.now() }

// Epoch implements [btl.Loop].
func (e *Engine) Epoch() uint64 { return e.epoch }

// Flush implements [btl.Loop].
func (e *Engine) Flush(d btl.Deferred) {
	e.deferred = append(e.deferred, d)
	e.awaitPoll()
}

// awaitPoll makes sure that a poll comes for what is held back.
func (e *Engine) awaitPoll() {
	switch {
	case e.holder == nil, e.holder == &e.background.waiter && e.queue.first == nil:
		e.armTick(true)
	case e.blocked:
		e.interrupt()
	}
}

// FlushLater is Flush for frames that may go with the next thing that the program sends. The end
// of a wait does not send them, the next poll does.
func (e *Engine) FlushLater(d btl.Deferred) {
	e.patient = append(e.patient, d)
	e.awaitPoll()
}

// Post implements [btl.Loop]. The caller may or may not hold the lock. What is
// posted when the engine closes, or later, does not run.
func (e *Engine) Post(f func()) {
	e.postMu.Lock()
	e.posts = append(e.posts, f)
	e.postMu.Unlock()
	if e.posted.Swap(true) {
		return // whoever set it has seen to it
	}
	e.seeToPosts()
}

// seeToPosts makes sure that a poll comes for what was posted. The caller may be
// within an up-call and must not wait for the lock. If the lock is taken, its
// holder comes here when it unlocks.
func (e *Engine) seeToPosts() {
	if e.mu.TryLock() {
		e.nudge()
		e.mu.Unlock()
	}
}

// Nudge says that a [Progressor] has something to do. It is called under the
// lock.
func (e *Engine) Nudge() { e.nudge() }

// nudge makes sure that a poll comes soon though no descriptor announces it.
func (e *Engine) nudge() {
	switch {
	case e.closed:
	case e.blocked:
		e.interrupt()
	case e.holder == nil:
		e.armTick(true)
	}
}

// Busy counts operations that should move on though the program makes no call:
// as long as there are any the background goroutine takes over sooner.
func (e *Engine) Busy(delta int) {
	e.busy.Add(int64(delta))
	if delta > 0 && e.holder == nil {
		e.armTick(true)
	}
}

// Helpers implements [btl.Helped].
func (e *Engine) Helpers(delta int) { e.helpers += delta }

// Crowded implements [btl.Census].
func (e *Engine) Crowded() bool { return e.opts.Crowded }

// clockPolls is at every how many polls a waiter looks at the clock, while the endpoint that is
// waited for is polled itself. A poll of memory takes a fifth of a look at the clock.
const clockPolls = 32

// poll does one round of work. The lock is held. The modules come first, then
// source, if there is one, then the descriptors. With a source the descriptors are
// looked at now and then only.
func (e *Engine) poll(source btl.Poller) bool {
	e.polling = true
	did := e.pollModules()
	if e.aside.watch != nil && (e.aside.watch.writing || !e.aside.isOf(source)) {
		e.bringBack()
	}
	if source != nil {
		did = source.Poll() || did
	}
	if source == nil && !did || e.lookIsDue() {
		did = e.pollDescriptors(source) || did
	}
	e.polling = false
	return did
}

// pollModules does what no descriptor announces.
func (e *Engine) pollModules() bool {
	e.epoch++
	e.polls++
	if e.dozing {
		e.rouse()
	}
	did := false
	if e.heldBack() {
		e.flushAll()
		did = true
	}
	for _, p := range e.progress {
		did = p.Progress() || did
	}
	if e.posted.Load() {
		did = e.runPosts() || did
	}
	return did
}

// heldBack reports whether frames wait for a poll.
func (e *Engine) heldBack() bool { return len(e.deferred)+len(e.patient) > 0 }

// flushAll sends what was held back.
func (e *Engine) flushAll() {
	e.deferred = append(e.deferred, e.patient...)
	clear(e.patient)
	e.patient = e.patient[:0]
	e.flushDeferred()
}

func (e *Engine) flushDeferred() {
	// What Flush defers anew waits for the next poll.
	batch := e.deferred
	e.deferred = e.flushing[:0]
	for i, d := range batch {
		batch[i] = nil
		d.Flush()
	}
	e.flushing = batch[:0]
}

func (e *Engine) runPosts() bool {
	e.postMu.Lock()
	e.posted.Store(false)
	fs := e.posts
	e.posts = nil
	e.postMu.Unlock()
	for _, f := range fs {
		f()
	}
	return len(fs) > 0
}

// Poll does one round of work if nobody else is at it: the progress of Test and
// Iprobe. Who calls them again and again in vain lets others have the processor. The lock is held, and released for that.
// Within an up-call Poll does nothing. Nor does it after Close, when the poller's descriptor may be somebody else's.
func (e *Engine) Poll(source btl.Poller) {
	if did, mine := e.Glance(source); mine {
		e.giveWay(did, source)
		if e.woken {
			e.MakeWay(false) // or who was woken would wait for another thread
		}
	}
}

// Glance is Poll for who lets others run by itself. It reports whether the round did anything, and whether it was the caller's.
func (e *Engine) Glance(source btl.Poller) (did, mine bool) {
	switch {
	case e.polling || e.closed:
		return false, false
	case e.Accompanied():
		e.pollBeside(source)
		return false, false
	}
	if e.holder != nil {
		e.evictBackground()
	}
	e.holder = &e.caller
	did = e.pollOnce(source)
	if e.move != nil {
		e.nearby.polls(e.clock)
	}
	e.release(&e.caller)
	return did, true
}

// pollOnce is a round of work of who polls now and then.
func (e *Engine) pollOnce(source btl.Poller) (did bool) {
	e.skipped = clockPolls // it may poll every 20 ms
	did = e.poll(source)
	return e.makeMoves() || did
}
