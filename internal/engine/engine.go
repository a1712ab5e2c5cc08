package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// Options are the tunables of an engine.
type Options struct {
	// Spin is how long a waiter polls before it parks.
	Spin time.Duration
	// Tick is how long held-back frames, or a rendezvous whose program computes,
	// wait at the most for a poll.
	Tick time.Duration
	// Simulated engines have no descriptors and never spin; inside
	// testing/synctest their time is virtual.
	Simulated bool
}

// A Progressor does work that no descriptor announces.
type Progressor interface {
	// Progress reports whether it did anything. It must be cheap if not.
	Progress() bool
}

// engines counts the engines of this process: with several, a waiter yields to
// other goroutines instead of other processes.
var engines atomic.Int32

// An Engine drives the transports of one world.
type Engine struct {
	mu        sync.Mutex
	contended atomic.Int32 // goroutines in Lock that had to wait
	_         [64]byte     // the lock's cache line is everybody's, what follows the owner's

	poller   poller
	clock    int64  // the time of the last look at it
	epoch    uint64 // number of polls
	holder   *waiter
	blocked  bool // the holder waits in the poller, without the lock
	evicting bool // the background goroutine has lost the role and not noticed
	queue    []*waiter
	idle     *waiter // free list
	deferred []btl.Deferred
	flushing []btl.Deferred // deferred's other buffer
	progress []Progressor
	timers   timerHeap
	watches  watchTable
	events   [maxEvents]event
	yields   penalty
	opts     Options
	closed   bool
	busy     int // operations that should move while the program computes

	tick       *time.Timer
	tickArmed  bool
	tickShort  bool
	tickEpoch  uint64
	background waiter
	takeRole   chan struct{} // tells the background goroutine to take the role
	done       sync.WaitGroup

	postMu sync.Mutex
	posts  []func()
	posted atomic.Bool
}

// New starts an engine. Close ends it.
func New(opts Options) (*Engine, error) {
	e := &Engine{opts: opts, takeRole: make(chan struct{}, 1)}
	if opts.Simulated {
		e.poller = newSimulated()
		e.opts.Spin = 0
	} else {
		p, err := newPoller()
		if err != nil {
			return nil, fmt.Errorf("progress engine: %w", err)
		}
		e.poller = p
	}
	if e.opts.Tick <= 0 {
		e.opts.Tick = 200 * time.Microsecond
	}
	engines.Add(1)
	e.done.Add(1)
	go e.runBackground()
	e.mu.Lock()
	e.armTick(false)
	e.mu.Unlock()
	return e, nil
}

// Close ends the engine. Nobody may wait any more, and every watch and timer
// must have been stopped.
func (e *Engine) Close() {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	e.tick.Stop()
	if e.blocked {
		e.poller.kick()
	}
	close(e.takeRole)
	e.mu.Unlock()
	e.done.Wait()
	e.poller.close()
	engines.Add(-1)
}

// Lock takes the engine's lock. All state of the message layer and of the
// transports is under it.
func (e *Engine) Lock() {
	if e.mu.TryLock() {
		return
	}
	e.contended.Add(1)
	e.mu.Lock()
	e.contended.Add(-1)
}

// Unlock releases the lock.
func (e *Engine) Unlock() { e.mu.Unlock() }

// AddProgressor has p.Progress called with every poll.
func (e *Engine) AddProgressor(p Progressor) { e.progress = append(e.progress, p) }

// ClearProgressors ends the calls of all progressors.
func (e *Engine) ClearProgressors() { e.progress = nil }

// Now implements [btl.Loop].
func (e *Engine) Now() int64 { return e.poller.now() }

// Epoch implements [btl.Loop].
func (e *Engine) Epoch() uint64 { return e.epoch }

// Flush implements [btl.Loop].
func (e *Engine) Flush(d btl.Deferred) {
	e.deferred = append(e.deferred, d)
	if e.holder == nil || e.holder == &e.background {
		e.armTick(true)
	} else if e.blocked {
		e.poller.kick()
	}
}

// Post implements [btl.Loop].
func (e *Engine) Post(f func()) {
	e.postMu.Lock()
	e.posts = append(e.posts, f)
	e.postMu.Unlock()
	if e.posted.Swap(true) {
		return // whoever set it has seen to it
	}
	if e.mu.TryLock() {
		e.nudge()
		e.mu.Unlock()
		return
	}
	// The caller itself may have the lock.
	go func() {
		e.Lock()
		e.nudge()
		e.Unlock()
	}()
}

// Nudge says that a [Progressor] has something to do. It is called under the
// lock.
func (e *Engine) Nudge() { e.nudge() }

// nudge makes sure that a poll comes soon though no descriptor announces it.
func (e *Engine) nudge() {
	switch {
	case e.closed:
	case e.blocked:
		e.poller.kick()
	case e.holder == nil:
		e.armTick(true)
	}
}

// Busy counts operations that should move on though the program makes no call:
// as long as there are any the background goroutine takes over sooner.
func (e *Engine) Busy(delta int) {
	e.busy += delta
	if delta > 0 && e.holder == nil {
		e.armTick(true)
	}
}

// descriptorPolls says how often the descriptors are looked at: at every so many
// polls while the endpoint waited for is being polled itself.
const descriptorPolls = 8

// poll does one round of work. The lock is held. Source, if any, is polled
// first; the descriptors are asked every few rounds, or always without a source.
func (e *Engine) poll(source btl.Poller, round int) bool {
	e.epoch++
	did := false
	if len(e.deferred) > 0 {
		e.flushDeferred()
	}
	for _, p := range e.progress {
		did = p.Progress() || did
	}
	if e.posted.Load() {
		did = e.runPosts() || did
	}
	if source != nil {
		did = source.Poll() || did
		if round%descriptorPolls != descriptorPolls-1 {
			return did
		}
	}
	return e.pollDescriptors() || did
}

// pollDescriptors looks at all descriptors and at the clock.
func (e *Engine) pollDescriptors() bool {
	e.clock = e.poller.now()
	n := e.poller.wait(e.events[:], 0)
	did := false
	if n > 0 {
		did = e.dispatch(e.events[:n])
	}
	return e.fire() || did
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
// Iprobe. The lock is held.
func (e *Engine) Poll(source btl.Poller) {
	if e.holder == &e.background {
		e.evictBackground()
	}
	if e.holder == nil {
		// The role is taken for the time of the call, so that an up-call that
		// comes back here does not poll within a poll.
		w := e.newWaiter()
		e.holder = w
		e.poll(source, int(e.epoch))
		e.release(w)
		e.freeWaiter(w)
	}
}
