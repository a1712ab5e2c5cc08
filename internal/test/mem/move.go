package mem

import "github.com/strandmp/strand/btl"

// An apart is a chunk that is copied to its landing place without the loop's lock.
type apart struct {
	asked   bool // the loop will make the move, or makes it
	refused bool // the landing has no memory for a Mover: copy under the lock
	landing *btl.Landing
	to      []byte
	from    []byte
}

// mover is an endpoint as the [btl.Mover] of its chunk.
type mover Endpoint

// Begin implements [btl.Mover].
func (m *mover) Begin(most int) bool {
	e, c := (*Endpoint)(m), &m.apart
	if e.state != up {
		c.asked = false
		return false
	}
	c.landing = e.landed
	if e.m.config.Unpinned {
		c.to = e.landed.Next()
	} else {
		c.to = e.landed.Pin()
	}
	if c.to == nil {
		c.asked, c.refused = false, true
		e.later()
		return false
	}
	p := e.inbox[0]
	c.to = c.to[:min(len(c.to), most, e.m.config.Chunk)]
	c.from = p.payload[e.read:]
	return true
}

// Move implements [btl.Mover].
func (m *mover) Move() {
	c := &m.apart
	n := copy(c.to, c.from)
	if !m.m.config.Unpinned {
		c.landing.Unpin(n)
	}
}

// End implements [btl.Mover].
func (m *mover) End() bool {
	e, c := (*Endpoint)(m), &m.apart
	n := min(len(c.to), len(c.from))
	c.asked = false
	if e.state != up {
		return true
	}
	if e.m.config.Unpinned {
		e.landed.Advance(n)
	} else {
		e.landed.Settle()
	}
	e.read += n
	if e.landed.Left() == 0 {
		e.landedWhole()
	}
	if e.state == up && len(e.inbox) > 0 {
		e.later()
	}
	return true
}

// landedWhole ends the frame at the head of the inbox.
func (e *Endpoint) landedWhole() {
	l, p := e.landed, e.inbox[0]
	e.landed = nil
	if err := e.receiver.End(l); err != nil {
		e.fail("receiving", err)
		return
	}
	r := e.remote
	r.m.host.Loop().Post(func() { r.acknowledged(p) })
	if e.state == up {
		e.inbox = e.inbox[1:]
	}
}
