package pml

import (
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// ackEvery is how many frames may arrive before they are acknowledged though no
// frame goes the other way.
const ackEvery = 64

// acknowledged takes in what every header carries: the peer's acknowledgement
// and its credit.
func (pe *peer) acknowledged(h *wire.Header) error {
	if err := pe.acknowledgedUpTo(h.Ack, h.Credit); err != nil {
		return err
	}
	for _, r := range h.Ranges[:h.NumRanges] {
		if err := pe.sent.acknowledgeRange(r, frameAcked); err != nil {
			return err
		}
	}
	if pe.again.head != nil {
		pe.pump() // some of these may have arrived
	}
	if pe.sent.empty() && pe.pml.closing {
		pe.pml.checkClosing()
	}
	return nil
}

// acknowledgedUpTo takes in a cumulative acknowledgement and a grant of credit.
func (pe *peer) acknowledgedUpTo(ack, grant uint32) error {
	if ack == pe.sent.base && pe.credit.Current(grant) {
		return nil // as mostly, and at no cost
	}
	return pe.allowed(ack, grant)
}

// allowed is acknowledgedUpTo where there is news.
func (pe *peer) allowed(ack, grant uint32) error {
	if err := pe.credit.Update(grant); err != nil {
		return err
	}
	if err := pe.sent.acknowledge(ack, frameAcked); err != nil {
		return err
	}
	if pe.restrained && !pe.stretched() {
		pe.restrained = false
		pe.pump()
	}
	return nil
}

func frameAcked(f *txFrame) {
	f.acked = true
	f.peer.moves++
	if f.rail != nil {
		f.rail.vital.acked++
		f.rail.vital.gone += int64(f.Size)
	}
	if f.parts != nil {
		f.partsAcked()
		return
	}
	f.settle()
}

// arrived notes that a frame has arrived whole.
func (pe *peer) arrived(frame uint32, counted, ackNow bool) error {
	if !counted {
		return nil
	}
	pe.moves++
	hadGaps := len(pe.received.beyond) > 0
	if err := pe.received.add(frame); err != nil {
		return err
	}
	pe.unacked++
	switch {
	case ackNow:
		pe.acknowledgeNow()
	case pe.unacked >= ackEvery || hadGaps || len(pe.received.beyond) > 0:
		// What fills a gap may complete a send whose last frame came before it.
		pe.acknowledgeSoon()
	}
	return nil
}

// acknowledgeNow acknowledges what a sender waits for: at once, since the longer
// it waits the more of what follows finds it with no receive posted, or with the
// program's answer if that is known to come.
func (pe *peer) acknowledgeNow() {
	if pe.replies.expected() {
		pe.acknowledgeSoon()
	} else {
		pe.acknowledge()
	}
	pe.replies.due(pe.pml.engine.Now())
}

// acknowledgeSoon has the peer told with the next poll what has arrived and what
// it may send, unless a frame that goes there before says it.
func (pe *peer) acknowledgeSoon() {
	pe.ackDue = true
	if pe.ackQueue {
		return
	}
	pe.ackQueue = true
	p := pe.pml
	p.toAcknowledge = append(p.toAcknowledge, pe)
	if len(p.toAcknowledge) == 1 {
		p.engine.Flush(p)
	}
}

// Flush implements [btl.Deferred]: it sends the acknowledgements that are due.
func (p *PML) Flush() {
	for i, pe := range p.toAcknowledge {
		p.toAcknowledge[i] = nil
		pe.ackQueue = false
		if pe.ackDue {
			pe.acknowledge()
		}
	}
	p.toAcknowledge = p.toAcknowledge[:0]
}

// acknowledge sends an acknowledgement now. If no rail takes it the next frame
// carries it, or it goes when the rail is writable.
func (pe *peer) acknowledge() {
	pe.ackDue = true
	if r := pe.ackRail(); r != nil {
		pe.sendAck(r)
	}
}

// ackRail is the rail for acknowledgements: the one that was heard last, which is
// alive, or another one if it is busy.
func (pe *peer) ackRail() *rail {
	if r := pe.heard; r != nil && (r.serves() || r.way.State == rails.Resting) && !r.busy {
		return r
	}
	return pe.readyRail()
}

// sendAck sends a frame with nothing but acknowledgement and credit.
func (pe *peer) sendAck(r *rail) {
	f := pe.pml.newFrame(pe)
	h := wire.Header{Kind: wire.Ack}
	for _, b := range pe.received.beyond {
		if h.NumRanges == wire.MaxRanges {
			break
		}
		h.Ranges[h.NumRanges] = b
		h.NumRanges++
	}
	f.build(&h)
	if r.transmit(f) {
		pe.ackDue, pe.unacked = false, 0
		return
	}
	pe.pml.freeFrame(f)
}

// starved reacts to a peer that had to hold back for want of credit.
func (pe *peer) starved() {
	if pe.grant.Grow(pe.pml.tune.creditMax, &pe.pml.unpromised) {
		pe.acknowledgeSoon()
	}
}
