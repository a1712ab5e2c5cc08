package conformance

import (
	"runtime"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
)

// A stepper turns a rank with the suite's own poller. It can be stopped between
// two polls, and stepped.
type stepper struct {
	*poller
	r *rank

	mu       sync.Mutex // the rank's lock
	runnable *sync.Cond
	stalled  bool
	stopping bool
	done     chan struct{} // nil until started
}

func newStepper(r *rank) *stepper {
	p, err := newPoller(r.w.t.rng.Uint64(), func(fd int) {
		r.w.t.violate(ruleClean, "rank %d: descriptor %d was closed while it was watched; Stop comes first", r.id, fd)
	})
	if err != nil {
		panic("conformance: no pipe for the loop: " + err.Error())
	}
	s := &stepper{poller: p, r: r}
	s.runnable = sync.NewCond(&s.mu)
	return s
}

func (s *stepper) lock() { s.mu.Lock() }

func (s *stepper) unlock() {
	s.makeMoves()
	s.mu.Unlock()
}

// makeMoves makes all moves that wait, without the lock, and reports whether anything was moved. Other
// calls of the rank may come in between.
func (s *stepper) makeMoves() (did bool) {
	for len(s.moves) > 0 {
		m := s.moves[0]
		s.moves = s.moves[1:]
		if !m.Begin(1 + s.rng.IntN(4*btl.LongMove)) {
			continue
		}
		s.mu.Unlock()
		m.Move()
		s.mu.Lock()
		did = m.End() || did
	}
	return did
}

func (s *stepper) start() {
	s.done = make(chan struct{})
	go s.drive()
}

// A rank that has nothing to do is turned each moment all the same: not all that is for it to do shows at a descriptor. Where nothing
// but timers has given it anything to do for so many turns, as while something has to time out, it is turned less often: half the
// time that the suite takes is such waiting.
const (
	moment     = time.Millisecond
	longMoment = 8 * time.Millisecond
	idleNow    = 4
	idleLong   = 12
)

// drive turns the rank until it is stopped.
func (s *stepper) drive() {
	defer close(s.done)
	for idle := 0; s.awaitTurn(); {
		if did, _ := s.turnUnless(true); did {
			idle = 0
		} else {
			idle++
		}
		switch {
		case idle > idleLong:
			s.wait(longMoment)
		case idle > idleNow:
			s.wait(moment)
		default:
			runtime.Gosched()
		}
	}
}

// awaitTurn waits while the rank is stalled; false means that it is to stop.
func (s *stepper) awaitTurn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stalled && !s.stopping {
		s.runnable.Wait()
	}
	return !s.stopping
}

// turn polls once for a case that steps by itself. A poll that did something is an event to the
// watchdog: a case may make many steps between two other events, and they take long on a busy
// machine.
func (s *stepper) turn() {
	if did, due := s.turnUnless(false); did || due {
		s.r.w.t.happened()
	}
}

// turnUnless polls once, and reports what poll does. With stalled it does not if the rank is stalled.
func (s *stepper) turnUnless(stalled bool) (did, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stalled && s.stalled {
		return false, false
	}
	did, due = s.poll()
	did = s.r.Progress() || did
	did = s.makeMoves() || did
	s.arm()
	return did, due
}

func (s *stepper) stall() {
	s.mu.Lock()
	s.stalled = true
	s.mu.Unlock()
}

func (s *stepper) resume() {
	s.mu.Lock()
	s.stalled = false
	s.mu.Unlock()
	s.runnable.Broadcast()
}

func (s *stepper) stop() {
	if s.done == nil {
		return
	}
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.runnable.Broadcast()
	<-s.done
}
