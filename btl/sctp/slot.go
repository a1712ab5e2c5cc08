package sctp

import (
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
)

// A slot is all that is known of one peer. It outlives its endpoints, for the
// sake of their epochs.
type slot struct {
	rank int
	ep   *endpoint // the present one, or the failed one that is still to be closed
	// epoch is the highest of any attempt of either side; known that of the last
	// connection.
	epoch, known uint32
	// reserve has proved itself and waits for our own attempt to end.
	reserve *inbound
	grace   btl.Timer
}

func (m *module) slot(rank int) *slot {
	s := m.slots[rank]
	if s == nil {
		s = &slot{rank: rank}
		m.slots[rank] = s
	}
	return s
}

// attempt is what settle has to know of our side of a slot.
type attempt uint8

const (
	idle     attempt = iota // nothing under way
	dialling                // an attempt of ours
	dialled                 // a connection that we have opened
	accepted                // a connection that the peer has opened
)

// decision is what to do with a peer that connects.
type decision uint8

const (
	accept    decision = iota // it becomes the connection; our attempt is given up
	replace                   // it takes the place of an older connection
	hold                      // it waits for our attempt to end
	duplicate                 // it is refused
)

// settle decides about an incoming connection that has proved itself, as btl/tcp
// does. Ours and theirs are the ranks, epoch that of our connection if there is
// one.
//
// Two attempts at once: the lower rank's wins. A connection that the peer has
// opened gives way to any later attempt of the peer's, which has given up the
// older. One that we have opened gives way only if the peer has known it, and so
// must have lost it; otherwise the attempt is one that has crossed ours.
func settle(ours, theirs int, at attempt, epoch uint32, r handshake.Request) decision {
	switch at {
	case dialling:
		if ours < theirs {
			return hold
		}
	case dialled:
		if r.Known < epoch {
			return duplicate
		}
		return replace
	case accepted:
		if r.Epoch <= epoch {
			return duplicate
		}
		return replace
	}
	return accept
}

// attempt describes our side of the slot for settle.
func (s *slot) attempt() attempt {
	if s.ep == nil {
		return idle
	}
	switch s.ep.state {
	case stateConnecting:
		if s.ep.dial == nil || s.ep.dial.resting() {
			return idle
		}
		return dialling
	case stateConnected:
		if s.ep.opened {
			return dialled
		}
		return accepted
	}
	return idle
}

// reserveGrace is how long a peer's connection waits while ours gets no answer
// at all. The peer's has come through, so ours should have by now.
const reserveGrace = 250 * time.Millisecond

// keep puts a connection in reserve.
func (s *slot) keep(in *inbound) {
	if s.reserve != nil {
		s.reserve.drop() // the peer has given it up for this one
	}
	s.reserve = in
	s.grace = in.m.loop.After(reserveGrace, func() {
		s.grace = nil
		// Once we have given proof the peer may count our attempt as made: then it
		// is not ours to give up.
		if d := s.dial(); d == nil || !d.proved() {
			s.useReserve()
		}
	})
}

func (s *slot) dial() *dial {
	if s.ep == nil {
		return nil
	}
	return s.ep.dial
}

// takeReserve empties the reserve.
func (s *slot) takeReserve() *inbound {
	in := s.reserve
	s.reserve = nil
	if s.grace != nil {
		s.grace.Stop()
		s.grace = nil
	}
	return in
}

// useReserve lets the peer's connection have the place of ours, and reports
// whether there is one.
func (s *slot) useReserve() bool {
	in := s.takeReserve()
	if in == nil {
		return false
	}
	in.admit()
	return true
}
