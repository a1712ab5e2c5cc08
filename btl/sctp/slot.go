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

// attempt describes our side of the slot for [handshake.Settle].
func (s *slot) attempt() handshake.Attempt {
	if s.ep == nil {
		return handshake.Idle
	}
	switch s.ep.state {
	case stateConnecting:
		if s.ep.dial == nil || s.ep.dial.resting() {
			return handshake.Idle
		}
		return handshake.Dialling
	case stateConnected:
		if s.ep.opened {
			return handshake.Dialled
		}
		return handshake.Accepted
	}
	return handshake.Idle
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
