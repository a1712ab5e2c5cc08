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

// drive turns the rank until it is stopped.
func (s *stepper) drive() {
	defer close(s.done)
	for idle := 0; s.awaitTurn(); {
		if s.turnUnless(true) {
			idle = 0
		} else if idle++; idle > 4 {
			s.wait(time.Millisecond)
			continue
		}
		runtime.Gosched()
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
	if s.turnUnless(false) {
		s.r.w.t.happened()
	}
}

// turnUnless polls once. With stalled it does not if the rank is stalled.
func (s *stepper) turnUnless(stalled bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stalled && s.stalled {
		return false
	}
	did := s.poll()
	did = s.r.Progress() || did
	did = s.makeMoves() || did
	s.arm()
	return did
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
