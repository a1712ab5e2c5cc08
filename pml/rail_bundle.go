package pml

import "github.com/strandmp/strand/btl"

// Parallel connections between the same two interfaces (btl_tcp_links) carry a part of the
// lanes each, as SCTP's streams do: what is lost on one of them holds up the messages of
// its lanes alone. Long messages go over all of them in pieces, like over all rails.

// chooseBundle finds the rails that run parallel to the one for control frames.
func (pe *peer) chooseBundle() {
	clear(pe.bundle)
	pe.bundle = pe.bundle[:0]
	first := pe.control()
	if first == nil || first.path.Bundle == 0 {
		return
	}
	for _, r := range pe.rails {
		if r.serves() && r.module == first.module && r.path.Bundle == first.path.Bundle {
			pe.bundle = append(pe.bundle, r)
		}
	}
	if len(pe.bundle) == 1 {
		pe.bundle = pe.bundle[:0]
	}
}

// connectBundle has the rails parallel to one that is connected connect too.
func (pe *peer) connectBundle(first *rail) {
	if first.path.Bundle == 0 || pe.pml.closing {
		return
	}
	for _, r := range pe.rails {
		if r.module == first.module && r.path.Bundle == first.path.Bundle {
			pe.connectToo(r)
		}
	}
}

// railOf is the rail for the frames of a lane, or nil.
func (pe *peer) railOf(lane int) *rail {
	if lane == btl.UrgentLane && pe.hasUrgentRail() {
		return pe.express.rail
	}
	if n := len(pe.bundle); n > 0 && lane < btl.UrgentLane {
		return pe.bundle[lane%n]
	}
	return pe.control()
}

// pumpBacklog sends the frames that no rail would take before, each over the rail of its
// lane, in their order.
func (pe *peer) pumpBacklog() {
	q := &pe.backlog
	if len(pe.bundle) == 0 {
		for q.Len() > 0 {
			if r := pe.control(); r == nil || r.busy || !pe.transmitHead(r, q) {
				return
			}
		}
		return
	}
	for range q.Len() {
		f := frameOf(q.Pop())
		if r := pe.railOf(f.lane); r == nil || r.busy || !r.transmitOrCut(f) {
			q.Push(&f.Frame)
		}
	}
}

// headOfLine reports whether frames that wait for their rail block those that come later
// (head-of-line blocking). They do unless a parallel rail takes frames and little waits.
func (pe *peer) headOfLine() bool {
	if pe.backlog.Len() == 0 {
		return false
	}
	for _, r := range pe.bundle {
		if r.serves() && !r.busy {
			return pe.backlog.Len() >= maxBacklog
		}
	}
	return true
}
