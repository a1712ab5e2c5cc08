package pml

import (
	"math"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// A network is what leads to a peer between two interfaces: one rail, or parallel ones
// (btl_tcp_links). Parallel ones carry a part of the lanes each, as SCTP's streams do: what is
// lost on one of them holds up the messages of its lanes alone. Long messages go over all
// rails in pieces.
type network []*rail

// rail is the one for the frames of a lane.
func (n network) rail(lane int) *rail {
	if len(n) == 1 || lane >= btl.UrgentLane {
		return n[0]
	}
	return n[lane%len(n)]
}

// chooseNetworks finds the networks that carry messages now.
func (pe *peer) chooseNetworks() {
	pe.networks, pe.parallel, pe.narrow = pe.networks[:0], false, false
	for _, r := range pe.rails {
		pe.narrow = pe.narrow || r.way.State == rails.Idle
		if r.serves() {
			pe.joinNetwork(r)
		}
	}
	if len(pe.networks) == 1 && len(pe.networks[0]) == 1 {
		pe.networks = pe.networks[:0]
	}
}

// joinNetwork adds a rail to the network that it is of.
func (pe *peer) joinNetwork(r *rail) {
	for i, n := range pe.networks {
		if r.path.Bundle != 0 && n[0].module == r.module && n[0].path.Bundle == r.path.Bundle {
			pe.networks[i], pe.parallel = append(n, r), true
			return
		}
	}
	pe.networks = append(pe.networks, network{r})
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

// railOf is the rail of the quickest network for the frames of a lane, or nil.
func (pe *peer) railOf(lane int) *rail {
	if lane == btl.UrgentLane && pe.hasUrgentRail() {
		return pe.express.rail
	}
	if len(pe.networks) > 0 {
		return pe.networks[0].rail(lane)
	}
	return pe.control()
}

// pumpBacklog sends the frames that no rail would take before, in their order. A frame that
// goes over another network, or over a parallel rail, does not wait for those before it.
func (pe *peer) pumpBacklog() {
	q := &pe.backlog
	if len(pe.networks) == 0 {
		for q.Len() > 0 {
			pe.replayOne()
			if r := pe.control(); r == nil || r.busy || !pe.transmitHead(r, q) {
				return
			}
		}
		return
	}
	refused := math.MaxInt // the length of the shortest that no network is to have now
	for range q.Len() {
		pe.replayOne()
		f := frameOf(q.Pop())
		if f.Size < refused || pe.parallel || f.lane >= btl.UrgentLane {
			if pe.transmitNow(f) {
				continue
			}
			refused = min(refused, f.Size)
		}
		q.Push(&f.Frame)
	}
}

// transmitNow sends a frame over the first network that is to have it and takes it.
func (pe *peer) transmitNow(f *txFrame) bool {
	for r := pe.railNow(f); r != nil; r = pe.railNow(f) {
		if r.transmitOrCut(f) {
			return true
		}
	}
	return false
}

// headOfLine reports whether frames that wait for their rail block those that come later
// (head-of-line blocking). They do unless another rail takes frames and little waits.
func (pe *peer) headOfLine() bool {
	if pe.backlog.Len() == 0 {
		return false
	}
	for _, net := range pe.networks {
		for _, r := range net {
			if !r.busy {
				return pe.backlog.Len() >= maxBacklog
			}
		}
	}
	return true
}
