package wireup

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
)

type slotKey struct{ rank, path int }

// A slot is all that is known of one path to one peer. It outlives its endpoints, for the
// sake of their epochs.
type slot struct {
	key  slotKey
	conn *Conn // of the present endpoint, or of the failed one that is still to be closed
	// epoch is the highest of any attempt of either side; known that of the last
	// connection.
	epoch, known uint32
	// reserve has proved itself and waits for our own attempt to end.
	reserve *visitor
	grace   btl.Timer
}

func (m *Manager) slot(rank, path int) *slot {
	key := slotKey{rank, path}
	s := m.slots[key]
	if s == nil {
		s = &slot{key: key}
		m.slots[key] = s
	}
	return s
}

// attempt describes our side of the slot for [handshake.Settle].
func (s *slot) attempt() handshake.Attempt {
	c := s.conn
	switch {
	case c == nil:
	case c.dial != nil && !c.dial.resting():
		return handshake.Dialling
	case c.state == Connected && c.opened:
		return handshake.Dialled
	case c.state == Connected:
		return handshake.Accepted
	}
	return handshake.Idle
}

// keep puts a connection in reserve.
func (s *slot) keep(v *visitor) {
	if s.reserve != nil {
		s.reserve.drop() // the peer has given it up for this one
	}
	m := v.p.m
	s.reserve = v
	s.grace = m.loop.After(m.Grace, func() {
		s.grace = nil
		// Once we have given proof the peer may count our attempt as made: then it is not
		// ours to give up.
		if d := s.dial(); d == nil || !d.proved() {
			s.useReserve()
		}
	})
}

func (s *slot) dial() *dial {
	if s.conn == nil {
		return nil
	}
	return s.conn.dial
}

// takeReserve empties the reserve.
func (s *slot) takeReserve() *visitor {
	v := s.reserve
	s.reserve = nil
	if s.grace != nil {
		s.grace.Stop()
		s.grace = nil
	}
	return v
}

// useReserve lets the peer's connection have the place of ours, and reports whether there
// is one.
func (s *slot) useReserve() bool {
	v := s.takeReserve()
	if v == nil {
		return false
	}
	v.admit()
	return true
}
