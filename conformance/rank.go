package conformance

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// A rank is one process of a world: its modules, its loop, and the goroutine
// that turns it. The lock makes all calls of the modules serial.
type rank struct {
	w       *world
	id      int
	loop    *loop
	host    *host
	modules []btl.Module
	attr    btl.Attr // of the first module
	running bool     // drive was started
	dead    bool     // the case has killed it; guarded by the trial's mu

	mu       sync.Mutex
	runnable *sync.Cond
	stalled  bool
	stopping bool
	done     chan struct{}

	owner   atomic.Int64 // the goroutine that has the lock
	sending atomic.Int32 // depth of calls of Send
	upcalls atomic.Int32 // depth of up-calls
	call    atomic.Pointer[string]
}

func newRank(w *world, id int) *rank {
	r := &rank{w: w, id: id, done: make(chan struct{})}
	r.runnable = sync.NewCond(&r.mu)
	r.host = newHost(r)
	r.loop = newLoop(r)
	return r
}

// do runs f as the host of this rank: under the lock, like every call of its
// modules.
func (r *rank) do(what string, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enter(what)
	defer r.leave()
	f()
}

func (r *rank) enter(what string) {
	r.owner.Store(goid())
	r.call.Store(&what)
}

func (r *rank) leave() {
	r.call.Store(nil)
	r.owner.Store(0)
}

// within reports whether the calling goroutine is in a call of this rank.
func (r *rank) within() bool { return r.owner.Load() == goid() }

// drive turns the loop until the rank is stopped.
func (r *rank) drive() {
	defer close(r.done)
	defer func() {
		if p := recover(); p != nil {
			r.w.t.violate(ruleNoPanic, "panic in the loop of rank %d: %v\n%s", r.id, p, debug.Stack())
		}
	}()
	for idle := 0; r.awaitTurn(); {
		if r.turn(false) {
			idle = 0
		} else if idle++; idle > 4 {
			r.loop.poller.wait(time.Millisecond)
			continue
		}
		runtime.Gosched()
	}
}

// awaitTurn waits while the rank is stalled; false means that it is to stop.
func (r *rank) awaitTurn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.stalled && !r.stopping {
		r.runnable.Wait()
	}
	return !r.stopping
}

// turn is one poll. A stalled rank turns only when it is stepped.
func (r *rank) turn(stepped bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalled && !stepped {
		return false
	}
	r.enter("its progress loop")
	defer r.leave()
	did := r.loop.poller.poll()
	for _, m := range r.modules {
		did = m.Progress() || did
	}
	r.loop.poller.arm()
	return did
}

// stall stops the rank between two polls. It can still be called.
func (r *rank) stall() {
	r.mu.Lock()
	r.stalled = true
	r.mu.Unlock()
}

func (r *rank) resume() {
	r.mu.Lock()
	r.stalled = false
	r.mu.Unlock()
	r.runnable.Broadcast()
}

// step turns a stalled rank n times.
func (r *rank) step(n int) {
	for range n {
		r.turn(true)
	}
}

// stop ends the goroutine that turns the rank.
func (r *rank) stop() {
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	r.runnable.Broadcast()
	<-r.done
}

// goid is the number of the calling goroutine. The suite has to know who calls;
// this is the one place where Go tells.
func goid() int64 {
	var buf [40]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	if i := bytes.IndexByte(b, ' '); i > 0 {
		b = b[:i]
	}
	id, _ := strconv.ParseInt(string(b), 10, 64)
	return id
}
