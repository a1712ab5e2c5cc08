package pml

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
)

// The messages of an urgent context go before all others to the same peer. They have a lane and
// queues of their own. Where the transport offers that, they have a connection of their own too,
// which is made when the first of them is sent. It is one rail beside the others: no other frame
// takes it, and it does not count as a way to the peer. While it is not there they take the
// ordinary rails, in front of what waits for these.

// express is what is urgent to one peer.
type express struct {
	waiting opQueue        // sends that are not launched
	frames  delivery.Queue // frames that no rail would take
	streams opQueue        // cleared sends with data still to be cut into frames
	rail    *rail          // the connection of their own; nil: it was not asked for, or there is none
	beside  *rail          // the rail to which that is parallel; nil: the peer has made it
	until   int64          // frames wait for it to connect until then
	beat    uint32         // when it last brought anything, in beats
}

// reserved is how many short messages a peer's credit has room for that only urgent messages use,
// but no more than an eighth of the first grant.
const reserved = 64

// urgentLane is the lane of urgent messages: the one after those of tags.
func (p *PML) urgentLane() uint16 { return uint16(p.tune.lanes) }

// onWay is the lane that the transport is told for the lane of a header.
func (p *PML) onWay(lane uint16) int {
	if lane > 0 && lane == p.urgentLane() {
		return btl.UrgentLane
	}
	return int(lane)
}

// expectUrgent notes that from now on messages may be urgent.
func (p *PML) expectUrgent() {
	p.urgent = true
	for _, pe := range p.peers {
		pe.reserve()
	}
}

// reserve keeps credit for urgent messages.
func (pe *peer) reserve() {
	if pe.pml.urgent {
		pe.credit.Reserve(min(reserved*credit.Price(frameRoom), pe.credit.First()/8))
	}
}

// spend takes credit for a message of so many bytes.
func (op *operation) spend(size int) bool {
	if op.context.urgent {
		return op.peer.credit.SpendUrgently(credit.Price(size))
	}
	return op.peer.credit.Spend(credit.Price(size))
}

// everyRail goes through all rails: those that carry everything, and the urgent one.
func (pe *peer) everyRail(yield func(*rail) bool) {
	for _, r := range pe.rails {
		if !yield(r) {
			return
		}
	}
	if r := pe.express.rail; r != nil {
		yield(r)
	}
}

// hasUrgentRail reports whether urgent frames have a connection of their own now.
func (pe *peer) hasUrgentRail() bool { return pe.express.rail != nil && pe.express.rail.serves() }

// hurry starts an urgent send.
func (pe *peer) hurry(op *operation) {
	pe.openUrgent()
	x := &pe.express
	if x.waiting.head == nil && (pe.up() || pe.hasUrgentRail()) && x.frames.Len() < maxBacklog && !pe.restrain() {
		pe.launch(op)
		return
	}
	op.setBusy(true)
	x.waiting.push(op)
	pe.connect()
}

// openUrgent sees to it that urgent frames get a connection of their own, if there can be one.
func (pe *peer) openUrgent() {
	x := &pe.express
	if pe.hasUrgentRail() || pe.pml.closing || pe.ways.Stage != rails.Known {
		return
	}
	if x.rail != nil && x.rail.broken() && x.beside != pe.control() {
		_ = x.rail.endpoint.Close()
		x.rail = nil // this side makes its own, over a network that serves
	}
	if x.rail == nil && !pe.makeUrgent() {
		return
	}
	anew, open := pe.ways.OpenAside(&x.rail.way, pe.env())
	if !open {
		return
	}
	e := pe.pml.engine
	x.until = e.Now() + int64(rails.NextRail)
	e.After(rails.NextRail, pe.pump)
	x.rail.connect(anew)
}

// makeUrgent makes the rail for urgent frames, parallel to the one for control frames. It reports
// whether there is one.
func (pe *peer) makeUrgent() bool {
	first := pe.control()
	if first == nil || first.way.Foreign {
		return false
	}
	m, is := first.module.(btl.Expediter)
	if !is {
		return false
	}
	path, can := m.Express(first.path)
	if !can {
		return false
	}
	r := pe.urgentOver(first.module, path)
	r.attr, r.address = first.attr, first.address
	ep, err := r.module.Connect(r.address, path, r)
	if err != nil {
		pe.pml.host.Logf(btl.LogInfo, "rank %d → rank %d: %s: no connection for urgent messages alone: %v", pe.pml.rank, pe.rank, r.attr.Name, err)
		return false
	}
	r.setEndpoint(ep)
	pe.express.rail, pe.express.beside = r, first
	return true
}

// urgentOver makes a rail for urgent frames that is not connected.
func (pe *peer) urgentOver(m btl.Module, path btl.Path) *rail {
	r := &rail{pml: pe.pml, peer: pe, module: m, attr: m.Attr(), path: path}
	r.way = rails.Rail{Owner: r, Aside: true}
	return r
}

// isUrgent reports whether the peer means a connection for urgent frames.
func (a *accepted) isUrgent() bool {
	return a.way().Urgent
}

// acceptUrgent is welcomeUrgent for who wants a receiver.
func (pe *peer) acceptUrgent(a *accepted) (btl.Receiver, error) {
	r, err := pe.welcomeUrgent(a)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// welcomeUrgent takes a connection for urgent frames that the peer has made. Where both sides do,
// and the transport leaves it to us, that of the lower rank is kept.
func (pe *peer) welcomeUrgent(a *accepted) (*rail, error) {
	x := &pe.express
	same := x.rail != nil && x.rail.module == a.module
	if same && x.rail.way.State == rails.Connecting && !x.rail.way.Foreign && pe.pml.rank < pe.rank {
		return nil, fmt.Errorf("%s: rank %d connects too", x.rail.endpoint.Desc(), pe.pml.rank)
	}
	if x.rail != nil {
		if !x.rail.broken() {
			x.rail.breakOff(fmt.Errorf("%s: rank %d has connected anew", x.rail.endpoint.Desc(), pe.rank))
		}
		_ = x.rail.endpoint.Close()
	}
	if !same {
		x.rail = pe.urgentOver(a.module, a.way())
		x.rail.way.Foreign, x.beside = true, nil
	}
	x.rail.adopt(a.endpoint)
	return x.rail, nil
}

// urgentRail is the rail that an urgent frame takes now, or nil if it is to wait. It waits for its
// own connection for a moment where the ordinary one has much to do.
func (pe *peer) urgentRail() *rail {
	x := &pe.express
	if pe.hasUrgentRail() {
		return x.rail
	}
	r := pe.control()
	if r != nil && x.rail != nil && x.rail.way.State == rails.Connecting && pe.pml.engine.Now() < x.until && r.loaded() {
		return nil
	}
	return r
}

// loaded reports whether a frame would wait behind others.
func (r *rail) loaded() bool {
	return r.busy || r.line.Newest() != nil || r.gauge != nil && r.gauge.Outstanding() > copyFirst
}

// transmitUrgent gives an urgent frame to its rail, and reports whether that has taken it.
func (pe *peer) transmitUrgent(f *txFrame) bool {
	r := pe.urgentRail()
	return r != nil && !r.busy && r.transmitOrCut(f)
}

// pumpUrgent sends what is urgent, as long as its rail takes it.
func (pe *peer) pumpUrgent() {
	x := &pe.express
	for pe.sent.UrgentReplays() > 0 && pe.replayNext() {
		continue
	}
	for x.frames.Len() > 0 {
		f := x.frames.Pop()
		if !pe.transmitUrgent(frameOf(f)) {
			x.frames.PushFront(f)
			return
		}
	}
	for x.waiting.head != nil && (pe.up() || pe.hasUrgentRail()) && !pe.restrain() {
		if pe.launch(x.waiting.pop()); x.frames.Len() > 0 {
			return
		}
	}
	for x.streams.head != nil && !pe.restrain() {
		r, op := pe.urgentRail(), pe.nextStream(&x.streams)
		if r == nil || r.busy || op == nil {
			return
		}
		f := op.cut(op.atMost(min(op.left(), r.bestPiece())))
		x.streams.wasCut(op)
		if !r.transmit(f) {
			x.frames.Push(&f.Frame)
			return
		}
	}
}

// bestPiece is how much of a long message is best cut into one frame for the rail alone.
func (r *rail) bestPiece() uint64 {
	if best := r.attr.BestFrame; best > 0 && best < r.attr.MaxFrame {
		return uint64(best)
	}
	return uint64(r.attr.MaxFrame)
}

// forgetUrgent forgets what waits for a peer that is gone.
func (pe *peer) forgetUrgent() { pe.express.waiting, pe.express.streams = opQueue{}, opQueue{} }

// hasUrgent reports whether anything urgent waits for a rail.
func (pe *peer) hasUrgent() bool {
	x := &pe.express
	return x.frames.Len() > 0 || x.waiting.head != nil || x.streams.head != nil
}

// clearedStreams is the queue of those sends that a cleared one belongs to.
func (op *operation) clearedStreams() *opQueue {
	if op.context.urgent {
		return &op.peer.express.streams
	}
	return &op.peer.streams
}
