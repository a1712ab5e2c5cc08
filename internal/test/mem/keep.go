package mem

import "github.com/strandmp/strand/btl"

// A store is what an endpoint keeps of the packets that it has passed on: those that the peer has not read, and some
// of the others.
type store struct {
	packets []*packet // the oldest first
	first   uint64    // the place of the first of them
}

// keep stores a packet, and forgets old ones that the peer has read.
func (s *store) keep(p *packet, most int) {
	s.packets = append(s.packets, p)
	for len(s.packets) > most && s.packets[0].read {
		s.packets[0] = nil
		s.packets = s.packets[1:]
		s.first++
	}
}

// keeper is an endpoint as a [btl.Keeper], which it is only if the transport is to keep anything.
type keeper struct{ *Endpoint }

var _ btl.Keeper = keeper{}

// outer is the endpoint as the host sees it.
func (e *Endpoint) outer() btl.Endpoint {
	if e.m.config.Keeps > 0 {
		return keeper{e}
	}
	return e
}

// inner is the endpoint that the host sees as this.
func inner(ep btl.Endpoint) (e *Endpoint, ok bool) {
	if k, kept := ep.(keeper); kept {
		return k.Endpoint, true
	}
	e, ok = ep.(*Endpoint)
	return e, ok
}

// Kept implements [btl.Keeper]: the frame is the last one.
func (k keeper) Kept(*btl.Frame) (place uint64) {
	return k.kept.first + uint64(len(k.kept.packets)) - 1
}

// Again implements [btl.Keeper].
func (k keeper) Again(place uint64, b []byte) bool {
	i := place - k.kept.first // beyond all if the place was before the first
	if i >= uint64(len(k.kept.packets)) {
		return false
	}
	copy(b, k.kept.packets[i].payload)
	return true
}

// giveKept lets go of what is kept, once the host has saved it.
func (e *Endpoint) giveKept() {
	if s, ok := e.receiver.(btl.Saver); ok && len(e.kept.packets) > 0 {
		s.Save()
	}
	e.kept = store{}
}
