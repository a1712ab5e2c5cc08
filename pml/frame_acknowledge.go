package pml

import (
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/wire"
)

// acknowledged takes in what every header carries: the peer's acknowledgement
// and its credit.
func (pe *peer) acknowledged(h *wire.Header) error {
	if err := pe.acknowledgedUpTo(h.Ack, h.Credit); err != nil {
		return err
	}
	for _, r := range h.Ranges[:h.NumRanges] {
		if err := pe.sent.AcknowledgeRange(delivery.Range(r), frameAcked); err != nil {
			return err
		}
	}
	if pe.sent.Replays() > 0 || pe.resumed {
		pe.pump() // some of these may have arrived
	}
	pe.unpacked() // those that went in parts keep their copies until then
	if pe.sent.Empty() && pe.pml.closing {
		pe.pml.checkClosing()
	}
	return nil
}

// acknowledgedUpTo takes in a cumulative acknowledgement and a grant of credit.
func (pe *peer) acknowledgedUpTo(ack, grant uint32) error {
	if ack == pe.sent.Base() && pe.credit.Current(grant) {
		return nil // as mostly, and at no cost
	}
	return pe.allowed(ack, grant)
}

// acknowledgedWhile is acknowledgedUpTo for who may be waited for by a blocking receive. The program goes on then, mostly to send, and what the peer has is of no interest
// to anybody but us: it is noted when that send is on its way, or at the next poll.
func (pe *peer) acknowledgedWhile(awaited bool, ack, grant uint32) error {
	if ack == pe.sent.Base() && pe.credit.Current(grant) {
		return nil
	}
	if !awaited || pe.sends > 0 || pe.restrained || pe.resumed || pe.pml.closing || !pe.sent.Spans(ack) {
		return pe.allowed(ack, grant)
	}
	if err := pe.credit.Update(grant); err != nil {
		return err
	}
	p := pe.pml
	if p.late == pe && int32(ack-pe.lateAck) <= 0 {
		return nil // it went over another rail before that one
	}
	if p.late != pe {
		p.catchUp()
		p.late = pe
	}
	pe.lateAck = ack
	return nil
}

// catchUp notes the acknowledgement that was left for later.
func (p *PML) catchUp() {
	pe := p.late
	if pe == nil {
		return
	}
	p.late = nil
	// If it names a frame that was not sent yet, which is damage, so does the peer's next one, or that frame has been sent by then.
	_ = pe.sent.Acknowledge(pe.lateAck, frameAcked)
	pe.unpacked()
}

// Progress implements [engine.Progressor].
func (p *PML) Progress() bool {
	p.catchUp()
	return false
}

// allowed is acknowledgedUpTo where there is news.
func (pe *peer) allowed(ack, grant uint32) error {
	if err := pe.credit.Update(grant); err != nil {
		return err
	}
	if err := pe.sent.Acknowledge(ack, frameAcked); err != nil {
		return err
	}
	if free := pe.restrained && !pe.stretched(); free || pe.resumed {
		pe.restrained = pe.restrained && !free
		pe.pump()
	}
	pe.unpacked()
	return nil
}

func frameAcked(d *delivery.Frame) {
	f := frameOf(d)
	f.peer.moves++
	if f.short && d.IsDone() {
		f.peer.pml.freeShort(f)
		return
	}
	if d.InParts() {
		d.EachPart(settleFrame)
		return
	}
	f.settle()
}

// arrived notes that a frame has arrived whole. Awaited is one that completes a request of
// its sender.
func (pe *peer) arrived(frame uint32, counted, awaited bool) error {
	if !counted {
		return nil
	}
	pe.moves++
	when, err := pe.received.Arrived(frame, awaited)
	if err != nil {
		return err
	}
	if pe.pml.closing && len(pe.received.Beyond()) == 0 {
		pe.pml.checkClosing()
	}
	switch {
	case awaited:
		pe.confirm(when)
	case when == delivery.Soon:
		pe.acknowledgeSoon()
	}
	return nil
}

// confirm acknowledges a frame that completes a request of its sender.
func (pe *peer) confirm(when delivery.When) {
	if pe.heard != nil && pe.heard.prompt() {
		pe.acknowledge() // whoever waits for it has the answer's receive posted when that comes
		return
	}
	if when == delivery.Now {
		pe.acknowledge()
	} else {
		pe.acknowledgeSoon()
	}
	pe.received.AwaitAnswer(pe.pml.engine.Now())
}

// acknowledgeSoon has the peer told with the next poll what has arrived and what
// it may send, unless a frame that goes there before says it.
func (pe *peer) acknowledgeSoon() {
	pe.received.Owe()
	if pe.ackQueue {
		return
	}
	pe.ackQueue = true
	p := pe.pml
	p.toAcknowledge = append(p.toAcknowledge, pe)
	if len(p.toAcknowledge) == 1 {
		p.engine.FlushLater(p)
	}
}

// Flush implements [btl.Deferred]: it sends the acknowledgements that are due.
func (p *PML) Flush() {
	for i, pe := range p.toAcknowledge {
		p.toAcknowledge[i] = nil
		pe.ackQueue = false
		if pe.received.Due() {
			pe.acknowledge()
		}
	}
	p.toAcknowledge = p.toAcknowledge[:0]
}

// acknowledge sends an acknowledgement now. If no rail takes it the next frame
// carries it, or it goes when the rail is writable.
func (pe *peer) acknowledge() {
	pe.received.Owe()
	if r := pe.ackRail(); r != nil {
		pe.sendAck(r)
	}
}

// ackRail is the rail for acknowledgements: the one that was heard last, which is
// alive, or another one if it is busy.
func (pe *peer) ackRail() *rail {
	if r := pe.heard; r != nil && r.trusted() && !r.busy {
		return r
	}
	return pe.readyRail()
}

// sendAck sends a frame with nothing but acknowledgement and credit.
func (pe *peer) sendAck(r *rail) {
	f := pe.pml.newFrame(pe)
	h := wire.Header{Kind: wire.Ack}
	if pe.unawaited {
		h.Flags = wire.FlagUnawaited
	}
	for _, b := range pe.received.Beyond() {
		if h.NumRanges == wire.MaxRanges {
			break
		}
		h.Ranges[h.NumRanges] = wire.Range(b)
		h.NumRanges++
	}
	f.build(&h)
	if !r.transmit(f) {
		pe.pml.freeFrame(f)
		return
	}
	pe.unawaited = false
	if r.trusted() {
		pe.received.Told()
	}
}

// starved reacts to a peer that had to hold back for want of credit. What it sends over a far way waits neither here nor
// there for as long as it is under way.
func (pe *peer) starved(far bool) {
	t := &pe.pml.tune
	limit := t.creditMax
	if !far && t.creditNear > 0 {
		limit = min(limit, t.creditNear)
	}
	if pe.grant.Grow(limit, &pe.pml.unpromised) {
		pe.acknowledgeSoon()
	}
}
