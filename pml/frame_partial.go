package pml

import (
	"fmt"

	"github.com/strandmp/strand/pml/wire"
)

// A frame may come more than once before it is whole. It may come over another rail while
// the first one still brings it, anew after that has broken, or in parts since the rail
// that is left takes no longer frames. All copies have the same bytes and go to the same
// place. The copy that brings the last missing byte ends the frame; what is still under
// way of the others goes to scratch. A copy that breaks off does no harm to the others. It
// is not known here on which of them the sender relies.

// beginPart finds the place of a part of a frame, or of one more copy of it: in the frame
// as it has begun already, or else the frame begins with it.
func (r *rail) beginPart(of *inbound, h *wire.Header, size int) (*inbound, error) {
	pe, which := r.peer, h.Part
	if !h.IsPart() {
		which.Whole = uint32(size)
	}
	if of == nil {
		err := pe.received.MayBegin(h.Frame)
		if err != nil {
			return nil, err
		}
		if h.Kind == wire.Data {
			of, err = r.beginData(h, int(which.Whole))
		} else {
			of, err = r.beginMessage(h, int(which.Whole))
		}
		if err != nil {
			return nil, err
		}
		if of.kind == wire.Ack {
			// Nobody wants it: the frame is done with its first part.
			of.landing.Set(size, nil, nil, r.pml.scratch)
			return of, nil
		}
		pe.assemble(of)
	}
	if of.bytes != int(which.Whole) || of.kind != h.Kind && of.kind != wire.Ack {
		return nil, fmt.Errorf("frame %d, of type %d with %d bytes, began as one of type %d with %d", h.Frame, h.Kind, which.Whole, of.kind, of.bytes)
	}
	in := r.pml.newInbound(pe, h, size)
	in.counted, in.partOf, in.at = false, of, int(which.At)
	if of.data == nil {
		in.op = of.op // whose memory it is that the bytes go to
	}
	of.place(in.landing, in.at, size)
	in.landing.Share() // two ways may bring the same bytes
	return in, nil
}

// assemble notes that a frame is put together of what comes of it.
func (pe *peer) assemble(in *inbound) { pe.received.Keep(&in.assembly, in.frame, in.bytes) }

// unfinished finds a frame that has come in part, or is coming another way, or nil.
func (pe *peer) unfinished(frame uint32) *inbound {
	if a := pe.received.Unfinished(frame); a != nil {
		return a.Owner.(*inbound)
	}
	for i, in := range pe.begun {
		if in.counted && in.frame == frame && (in.kind != wire.Ack || in.numbered) {
			pe.begun[i] = in.split()
			pe.assemble(in)
			return in
		}
	}
	return nil
}

// split makes of a frame that is arriving whole one that is arriving in parts, of which
// what is under way is one.
func (in *inbound) split() *inbound {
	p := in.peer.pml
	whole := p.newInbound(in.peer, &wire.Header{Kind: in.kind}, in.bytes)
	whole.partOf, whole.rail = in, in.rail
	if in.data == nil {
		whole.op = in.op
	}
	fresh := whole.landing
	whole.own(in.landing)
	in.own(fresh)
	whole.landing.Share()
	return whole
}

// endPart takes note that a part is complete, and of the frame if it was the last one.
func (r *rail) endPart(in *inbound) error {
	pe, of := in.peer, in.partOf
	whole, err := pe.received.Cover(&of.assembly, in.at, in.at+in.bytes)
	r.pml.freeInbound(in)
	if !whole {
		return err
	}
	pe.received.Forget(&of.assembly)
	if of.kind != wire.Eager && of.counted {
		pe.acknowledgeSoon() // its sender may keep a copy until then (frame_packing.go), for want of which others wait
	}
	for _, in := range pe.begun {
		if in.partOf == of { // it came another way as well, and its place is given back
			in.landing.Revoke(r.pml.scratch)
			in.partOf, in.op, in.kind = nil, nil, wire.Ack
		}
	}
	return r.end(of)
}
