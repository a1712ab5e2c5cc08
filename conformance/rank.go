package conformance

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// A gear is what turns a rank: a progress engine and its lock, which makes all
// calls of the modules serial.
type gear interface {
	btl.Loop
	lock()
	unlock()
	start()
	turn() // once
	stop() // ends what start began
	close()
}

// A rank is one process of a world.
type rank struct {
	w       *world
	id      int
	gear    gear
	loop    *loop
	host    *host
	modules []btl.Module
	attr    btl.Attr // of the first module
	address []byte   // likewise
	dead    bool     // the case has killed it; guarded by the trial's mu

	owner   atomic.Uintptr // the goroutine that is in a call of this rank
	sending atomic.Int32   // depth of calls of Send
	upcalls atomic.Int32   // depth of up-calls
	call    atomic.Pointer[string]

	meanwhile atomic.Pointer[interruption] // what the case does while the next Mover moves
}

func newRank(w *world, id int) *rank {
	r := &rank{w: w, id: id}
	r.host = newHost(r)
	if w.variant.production {
		r.gear = newProduction(r)
	} else {
		r.gear = newStepper(r)
	}
	r.loop = newLoop(r)
	w.t.mu.Lock()
	w.t.ranks[r] = struct{}{}
	w.t.mu.Unlock()
	return r
}

// do runs f as the host of this rank, under the lock.
func (r *rank) do(what string, f func()) {
	r.gear.lock()
	defer r.gear.unlock()
	r.inside(what, f)
}

// inside notes that f is a call of this rank. The lock is held.
func (r *rank) inside(what string, f func()) {
	owner, call := r.owner.Swap(goroutine()), r.call.Swap(&what)
	defer func() {
		r.call.Store(call)
		r.owner.Store(owner)
	}()
	f()
}

// called is inside for what the progress engine calls. A panic is the
// transport's, and goes into the report.
func (r *rank) called(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.w.t.violate(ruleNoPanic, "panic in %s of rank %d: %v\n%s", what, r.id, p, debug.Stack())
		}
	}()
	r.inside(what, f)
}

// heldUp is how long a call of the rank that a pin holds up gets to show that it is not held up.
const heldUp = 5 * time.Millisecond

// An interruption is what a case does while a Mover moves.
type interruption struct {
	do   func()
	done chan struct{}
}

// interrupt has f done, on a goroutine of its own, at the next move of the rank.
func (r *rank) interrupt(f func()) *interruption {
	i := &interruption{do: f, done: make(chan struct{})}
	r.meanwhile.Store(i)
	return i
}

// met reports whether a move came. If so, the interruption has ended, and what it wrote can be read;
// if not, it never comes.
func (r *rank) met(i *interruption) bool {
	if r.meanwhile.CompareAndSwap(i, nil) {
		return false
	}
	<-i.done
	return true
}

// moving calls a Mover's Move. What the case does meanwhile begins before, and may end before if the
// transport does not pin what it uses.
func (r *rank) moving(move func()) {
	defer func() {
		if p := recover(); p != nil {
			r.w.t.violate(ruleNoPanic, "panic in Mover.Move of rank %d: %v\n%s", r.id, p, debug.Stack())
		}
	}()
	if i := r.meanwhile.Swap(nil); i != nil {
		go func() {
			defer close(i.done)
			i.do()
		}()
		defer func() { <-i.done }()
		select {
		case <-i.done:
		case <-time.After(heldUp):
		}
	}
	move()
}

// within reports whether the calling goroutine is in a call of this rank.
func (r *rank) within() bool { return r.owner.Load() == goroutine() }

// Progress lets all modules do what no descriptor announces.
func (r *rank) Progress() (did bool) {
	r.called("Module.Progress", func() {
		for _, m := range r.modules {
			did = m.Progress() || did
		}
	})
	return did
}

// Doze implements [btl.Dozer] for all modules.
func (r *rank) Doze() (idle bool) {
	idle = true
	r.called("Dozer.Doze", func() {
		for _, m := range r.modules {
			if d, ok := m.(btl.Dozer); ok {
				idle = d.Doze() && idle
			}
		}
	})
	if !idle {
		r.Wake()
	}
	return idle
}

// Wake implements [btl.Dozer].
func (r *rank) Wake() {
	r.called("Dozer.Wake", func() {
		for _, m := range r.modules {
			if d, ok := m.(btl.Dozer); ok {
				d.Wake()
			}
		}
	})
}

// Settle implements [btl.Neighbourhood] for all modules.
func (r *rank) Settle(processor int, waits bool) {
	r.called("Neighbourhood.Settle", func() {
		for _, m := range r.modules {
			if n, ok := m.(btl.Neighbourhood); ok {
				n.Settle(processor, waits)
			}
		}
	})
}

// Neighbours implements [btl.Neighbourhood] for all modules.
func (r *rank) Neighbours(on, waiting *btl.Processors) (unsure bool) {
	r.called("Neighbourhood.Neighbours", func() {
		for _, m := range r.modules {
			if n, ok := m.(btl.Neighbourhood); ok {
				unsure = n.Neighbours(on, waiting) || unsure
			}
		}
	})
	return unsure
}

// step turns the rank n times.
func (r *rank) step(n int) {
	for range n {
		r.gear.turn()
	}
}

// stall stops the rank between two polls. It can still be called and stepped.
func (r *rank) stall() { r.gear.(*stepper).stall() }

func (r *rank) resume() {
	if s, ok := r.gear.(*stepper); ok {
		s.resume()
	}
}
