package pml

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/wire"
)

// inbound is a frame whose payload is arriving, or a message that waits for its
// receive, or both.
type inbound struct {
	match.Message
	landing *btl.Landing
	peer    *peer
	rail    *rail // that brings its payload
	kind    wire.Kind
	frame   uint32
	counted bool
	ackNow  bool
	// numbered: it is a message that has its place in the order, wanted or not.
	numbered bool
	bytes    int               // payload of this frame
	offset   uint64            // where in the message that begins
	assembly delivery.Assembly // what of it has arrived, if it comes in parts or by several ways
	partOf   *inbound          // the frame that this is a part of
	at       int               // where in that
	op       *operation        // the receive it is for, once known

	context *Context
	total   uint64 // length of the whole message
	data    []byte // the payload, if no receive was there for it
	whole   bool   // the payload has arrived
	stuck   bool   // it will not: the peer is gone
	asked   bool   // it is a request to send
	waits   bool   // and has found no receive
	handle  uint64 // the sender's, to answer it
	owes    bool   // it is to be answered when it has come
	how     wire.Flags
	round   uint32   // how often it was given back
	units   uint32   // credit it takes
	next    *inbound // on the free list, or of those that matched probes have taken
	prev    *inbound // of these
}

func (p *PML) newInbound(pe *peer, h *wire.Header, size int) *inbound {
	in := p.inbounds
	if in == nil {
		in = new(inbound)
		in.Owner, in.assembly.Owner = in, in
		in.own(new(btl.Landing))
	} else {
		p.inbounds, in.next = in.next, nil
		p.spareInbounds--
	}
	in.peer, in.kind, in.bytes = pe, h.Kind, size
	in.frame, in.counted, in.ackNow = h.Frame, h.Counted(), h.AckNow()
	return in
}

// own makes a landing the one of this inbound.
func (in *inbound) own(l *btl.Landing) { in.landing, l.Owner = l, in }

func (p *PML) freeInbound(in *inbound) {
	in.answered()
	in.peer.received.Forget(&in.assembly)
	if in.data != nil {
		p.pool.Put(in.data)
	}
	in.landing.Set(0, nil, nil, nil)
	in.peer, in.rail, in.op, in.context, in.data = nil, nil, nil, nil, nil
	in.offset, in.partOf, in.at = 0, nil, 0
	in.whole, in.asked, in.handle, in.round, in.units, in.total = false, false, 0, 0, 0, 0
	in.numbered, in.stuck, in.owes = false, false, false
	if p.spareInbounds < keptSpare {
		in.next, p.inbounds = p.inbounds, in
		p.spareInbounds++
	}
}

// Deliver implements [btl.Receiver].
func (r *rail) Deliver(b, payload []byte) error {
	if r.deliverExpected(b, payload) {
		return nil
	}
	var h wire.Header
	if err := h.Decode(b, len(payload)); err != nil {
		return r.malformed(err)
	}
	in, err := r.begin(&h, len(payload))
	if err != nil {
		return r.malformed(err)
	}
	if in == nil {
		return nil
	}
	in.landing.Fill(payload)
	return r.malformed(r.end(in))
}

// Begin implements [btl.Receiver].
func (r *rail) Begin(b []byte, size int) (*btl.Landing, error) {
	var h wire.Header
	if err := h.Decode(b, size); err != nil {
		return nil, r.malformed(err)
	}
	in, err := r.begin(&h, size)
	if err != nil {
		return nil, r.malformed(err)
	}
	if in == nil {
		// Only frames without a payload end here, and those come whole.
		return nil, r.malformed(fmt.Errorf("frame type %d in two steps", h.Kind))
	}
	in.rail = r
	r.peer.begun = append(r.peer.begun, in)
	return in.landing, nil
}

// End implements [btl.Receiver].
func (r *rail) End(l *btl.Landing) error {
	in := l.Owner.(*inbound)
	in.peer.forgetBegun(in)
	return r.malformed(r.end(in))
}

// Drop implements [btl.Receiver].
func (r *rail) Drop(l *btl.Landing) {
	in := l.Owner.(*inbound)
	pe := in.peer
	pe.forgetBegun(in)
	if !in.numbered {
		if in.kind == wire.Data && in.partOf == nil && in.op != nil {
			in.op.booked -= uint64(in.bytes)
		}
		pe.pml.freeInbound(in) // should it come again it finds its place anew
		return
	}
	// The message has been numbered and matched, or queued: it stays, and what
	// comes again with the same frame number completes it.
	pe.assemble(in)
}

// revoke takes back the landing places of receives that end now, whatever still
// arrives for them.
func (pe *peer) revoke(gone func(*operation) bool) {
	pe.eachArriving(func(in *inbound) {
		if in.op != nil && gone(in.op) {
			in.landing.Revoke(pe.pml.scratch)
			in.op, in.kind = nil, wire.Ack
			in.release()
		}
	})
}

// eachArriving calls do for each frame whose payload is arriving, and each that has come in
// part.
func (pe *peer) eachArriving(do func(*inbound)) {
	for _, in := range pe.begun {
		do(in)
	}
	for _, a := range pe.received.AllUnfinished() {
		do(a.Owner.(*inbound))
	}
}

func (pe *peer) forgetBegun(in *inbound) {
	if i := slices.Index(pe.begun, in); i >= 0 {
		pe.begun = slices.Delete(pe.begun, i, i+1)
	}
}

// malformed gives an error from the network its place.
func (r *rail) malformed(err error) error {
	if err == nil {
		return nil
	}
	return &protocolError{rank: r.peer.rank, err: err}
}

// begin takes a frame's header and finds a place for its payload. It returns nil
// for frames that need nothing more.
func (r *rail) begin(h *wire.Header, size int) (*inbound, error) {
	pe, p := r.peer, r.pml
	p.recent = r.poller
	r.hear()
	if err := pe.acknowledged(h); err != nil {
		return nil, err
	}
	if h.Counted() {
		if pe.received.Has(h.Frame) {
			pe.acknowledgeSoon() // the first time it may have been lost
			return r.drain(h, size), nil
		}
		if len(pe.withdrawing) > 0 && pe.late(h.Frame) {
			in := r.drain(h, size)
			in.counted = false
			return in, nil
		}
		if of := pe.unfinished(h.Frame); of != nil || h.IsPart() {
			return r.beginPart(of, h, size)
		}
	} else if !h.Kind.Unnumbered() && !pe.local {
		return nil, fmt.Errorf("frame type %d without a number", h.Kind)
	}
	switch h.Kind {
	case wire.Ack:
		if h.Flags&wire.FlagUnawaited != 0 {
			pe.awaited.missed()
		}
		if h.AckNow() {
			r.answer()
		}
		return nil, nil
	case wire.Goodbye, wire.GoodbyeAck:
		pe.saidGoodbye(h.Kind)
		return nil, nil
	case wire.Broken:
		pe.heardBroken(h, r)
		return nil, nil
	case wire.Probe:
		in := r.drain(h, size)
		in.kind = wire.Probe
		return in, nil
	case wire.Probed:
		r.probed()
		return nil, nil
	case wire.Clear:
		if err := pe.arrived(h.Frame, h.Counted(), h.AckNow()); err != nil {
			return nil, err
		}
		pe.clear(h)
		return nil, nil
	case wire.Data:
		return r.beginData(h, size)
	}
	return r.beginMessage(h, size)
}

// drain returns a landing for a payload that nobody wants: the frame has come
// before, or its receive has ended.
func (r *rail) drain(h *wire.Header, size int) *inbound {
	in := r.pml.newInbound(r.peer, h, size)
	in.kind, in.counted = wire.Ack, h.Counted() && !r.peer.received.Has(h.Frame)
	in.landing.Set(size, nil, nil, r.pml.scratch)
	return in
}

// beginData finds the place of a piece of a message.
func (r *rail) beginData(h *wire.Header, size int) (*inbound, error) {
	op := r.pml.lookup(h.Handle, r.peer, false)
	if op == nil {
		return r.drain(h, size), nil
	}
	if accept := min(op.total, op.size); h.Offset > accept || uint64(size) > accept-h.Offset {
		return nil, fmt.Errorf("data frame of %d bytes at offset %d of a message of which %d are taken", size, h.Offset, accept)
	}
	if !op.withdrawn {
		// More than there is would end the receive while some of it is still arriving.
		if accept := min(op.total, op.size); op.booked+uint64(size) > accept || !op.in.asked {
			return nil, fmt.Errorf("data frame of %d bytes of a message of which %d are taken, and %d are here or arriving", size, accept, op.booked)
		}
		op.booked += uint64(size)
	}
	in := r.pml.newInbound(r.peer, h, size)
	in.op, in.offset = op, h.Offset
	in.place(in.landing, 0, size)
	return in, nil
}

// beginMessage takes in a new message: it is numbered, matched and given a place
// for the data it comes with.
func (r *rail) beginMessage(h *wire.Header, size int) (*inbound, error) {
	pe, p := r.peer, r.pml
	units := uint32(0)
	if h.Kind == wire.Eager || size > 0 {
		units = credit.Price(size)
		if err := pe.grant.Charge(units); err != nil {
			return nil, err
		}
	}
	c, err := p.contextFor(pe, h.Context)
	if err != nil {
		return nil, err
	}
	in := p.newInbound(pe, h, size)
	in.Tag, in.Seq, in.LaneSeq = h.Tag, h.Seq, h.LaneSeq
	in.context, in.total, in.handle, in.units = c, h.Size, h.Handle, units
	in.asked = h.Kind == wire.Request
	in.whole = size == 0
	in.numbered = true
	if in.asked {
		if err := in.asks(); err != nil {
			p.discard(in)
			return nil, err
		}
	}
	if h.Flags&wire.FlagStarved != 0 {
		pe.starved(h.Flags&wire.FlagFar != 0)
	}
	if in.whole {
		if err := pe.arrived(h.Frame, h.Counted(), h.AckNow()); err != nil {
			p.discard(in)
			return nil, err
		}
		in.counted = false
	}
	r.traffic.Received++
	r.traffic.BytesReceived += h.Size
	if err := c.arrive(in, h.Lane); err != nil {
		p.discard(in)
		return nil, err
	}
	if p.trace != nil {
		in.traceUnexpected(pe, h)
	}
	if len(p.probers) > 0 {
		p.wakeProbers()
	}
	if size == 0 {
		return nil, nil // it was settled by its match, or waits for one
	}
	if in.op == nil && !in.asked {
		pe.noteUnawaited(size)
	}
	if in.op == nil || in.op.size < uint64(size) { // all of it, should it be given back
		in.data = p.pool.Get(size)
	}
	in.place(in.landing, 0, size)
	return in, nil
}

// place makes the landing that of size bytes of the frame's payload, from at on.
func (in *inbound) place(l *btl.Landing, at, size int) {
	switch scratch := in.peer.pml.scratch; {
	case in.data != nil:
		l.Set(size, in.data[at:at+size], nil, nil)
	case in.op != nil && !in.op.withdrawn && in.op.buf.Layout != nil:
		l.SetPlace(size, &in.op.buf, int(in.offset)+at, scratch)
	case in.op != nil && !in.op.withdrawn:
		mem := in.op.buf.From(in.offset + uint64(at))
		l.Set(size, mem.First, mem.More, scratch)
	default:
		l.Set(size, nil, nil, scratch)
	}
}

// end takes note that a frame's payload is complete.
func (r *rail) end(in *inbound) error {
	pe, p := in.peer, r.pml
	if in.partOf != nil {
		return r.endPart(in)
	}
	frame, counted, ackNow := in.frame, in.counted, in.ackNow
	if op := in.op; op != nil && op.withdrawn {
		p.freeInbound(in)
		return op.comesLate(frame)
	}
	switch in.kind {
	case wire.Ack: // drained
		p.freeInbound(in)
		if counted {
			pe.acknowledgeSoon() // a message that was given back rests until its sender knows that this is over
		}
	case wire.Probe:
		p.freeInbound(in)
		r.answerProbe()
		return nil
	case wire.Data:
		op := in.op
		n := uint64(in.bytes)
		p.freeInbound(in)
		if op != nil {
			op.landed(n)
		}
	default:
		in.whole = true
		if in.asked && in.isAll() {
			return in.requestCame()
		}
		if in.op != nil {
			in.settle()
		}
	}
	// Last, so that the acknowledgement carries the credit that was released.
	return pe.arrived(frame, counted, ackNow)
}

// settle passes the data of a message that is complete, as far as its first
// frame goes, to its receive.
func (in *inbound) settle() {
	op, p := in.op, in.peer.pml
	if in.data != nil {
		op.buf.Unpack(in.data)
	}
	n := min(uint64(in.bytes), op.size)
	in.release()
	p.pool.Put(in.data)
	in.data = nil
	op.first = true
	op.landed(n)
}

// release gives the message's credit back.
func (in *inbound) release() {
	pe := in.peer
	switch due := in.units > 0 && pe.grant.Refund(in.units); {
	case pe.failure != nil:
		pe.grant.Expire(pe.pml.tune.creditFirst, &pe.pml.unpromised)
	case due:
		pe.acknowledgeSoon()
	}
	in.units = 0
}

// breakOff notes that frames of a peer that is gone will not be completed. A message that
// waits ends its receive with an error, and is freed by that.
func (pe *peer) breakOff() {
	for _, c := range pe.pml.contexts {
		c.match.Abandon(int32(pe.rank), func(m *match.Message) { m.Owner.(*inbound).unwanted() })
	}
	for _, a := range pe.received.ForgetAll() {
		in := a.Owner.(*inbound)
		if in.stuck = true; in.kind == wire.Ack {
			pe.pml.discard(in)
		}
	}
}

// unwanted drops a message that will not be received: now, or when its frame ends.
func (in *inbound) unwanted() {
	if in.whole || in.stuck {
		in.peer.pml.discard(in)
		return
	}
	in.release()
	in.kind = wire.Ack
}

// discard drops a frame, or a message, that nobody will receive.
func (p *PML) discard(in *inbound) {
	in.release()
	p.freeInbound(in)
}
