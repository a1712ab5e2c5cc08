package pml

import (
	"slices"

	"github.com/strandmp/strand/internal/engine"
)

// waitSet is what waits for some requests of one world. Sets are kept for reuse. As a
// condition it is one of two: that all requests are over ([allOver]), or one ([oneOver]).
// What a wait costs does not depend on how often it parks: it goes through the requests
// once.
type waitSet struct {
	reqs   []Request
	over   int        // allOver: so many are known to be over, from the front, or to lend
	seen   int        // allOver: so many were over when last looked at
	lent   bool       // allOver: some of them do
	last   bool       // allOver: those are waited for, all others are over
	blocks *operation // allOver: the one that it waits for
	one    bool       // oneOver: one is
	waiter *engine.Waiter
	next   *waitSet
	single [1]Request
}

func (p *PML) newWaitSet(reqs []Request) *waitSet {
	s := p.waitSets
	if s == nil {
		s = new(waitSet)
	}
	p.waitSets, s.next = s.next, nil
	s.reqs = reqs
	return s
}

func (p *PML) freeWaitSet(s *waitSet) {
	if s.blocks != nil && s.over < len(s.reqs) && s.blocks.gen == s.reqs[s.over].gen { // else somebody else has ended it
		s.blocks.unblock()
	}
	*s = waitSet{next: p.waitSets}
	p.waitSets = s
}

// told notes that an operation that the set watches is over.
func (s *waitSet) told(e *engine.Engine) {
	s.one = true
	if s.waiter != nil {
		e.Wake(s.waiter)
	}
}

// watch has the set told when the operation of a request is over.
func (s *waitSet) watch(r Request) { r.op.sets = append(r.op.sets, s) }

// unwatch takes that back. An operation that has ended has forgotten it.
func (s *waitSet) unwatch(r Request) {
	if r.op == nil || r.op.gen != r.gen {
		return
	}
	if i := slices.Index(r.op.sets, s); i >= 0 {
		r.op.sets = slices.Delete(r.op.sets, i, i+1)
	}
}

// allOver is the condition that all requests of a set are over. It goes through them
// from the front, once, and waits for one at a time.
type allOver waitSet

// Done implements [engine.Condition].
func (s *allOver) Done() bool {
	for ; s.over < len(s.reqs); s.over++ {
		r := s.reqs[s.over]
		if r.op == nil || r.over() {
			continue
		}
		if r.op.lends() {
			if !s.last {
				s.pass(r.op)
				continue
			}
			if s.blocks != r.op && !r.op.inquiresLent() && r.op.claim() {
				continue
			}
		}
		if s.blocks != r.op {
			s.blocks = r.op
			if r.op.block(); r.over() {
				continue
			}
		}
		return false
	}
	if s.lent {
		s.lent, s.last, s.over = false, true, 0
		inquireLent(s.reqs)
		return s.Done()
	}
	return true
}

// isOver implements [outcome]. What is over stays so, and is not looked at again.
func (s *allOver) isOver() bool {
	for ; s.seen < len(s.reqs); s.seen++ {
		if r := s.reqs[s.seen]; r.op != nil && !r.over() {
			return false
		}
	}
	return true
}

// inquireLent asks all peers to which more is lent than is to be copied, so that they answer, or are late, together.
func inquireLent(reqs []Request) {
	for _, r := range reqs {
		if r.op != nil && !r.over() && r.op.lends() {
			r.op.inquiresLent()
		}
	}
}

// pass leaves a send that lends its buffer for the end: what else is waited for may bring its acknowledgement.
func (s *allOver) pass(op *operation) {
	s.lent = true
	if s.blocks == op {
		op.unblock()
		s.blocks = nil
	}
}

// Park implements [engine.Condition].
func (s *allOver) Park(w *engine.Waiter) {
	s.waiter = w
	if s.over == len(s.reqs) {
		return
	}
	if r := s.reqs[s.over]; w != nil {
		(*waitSet)(s).watch(r)
	} else {
		(*waitSet)(s).unwatch(r)
	}
}

// oneOver is the condition that one request of a set is over. The set watches all of
// them.
type oneOver waitSet

// Done implements [engine.Condition].
func (s *oneOver) Done() bool { return s.one }

// Park implements [engine.Condition].
func (s *oneOver) Park(w *engine.Waiter) { s.waiter = w }
