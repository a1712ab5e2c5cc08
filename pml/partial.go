package pml

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/pml/wire"
)

// A frame may come more than once before it is whole: over another rail while the first
// way still brings it, anew after it has broken off, or in parts since the rail that is
// left takes no longer ones. All that comes has the same bytes and goes to the same place;
// who is first with the last byte missing ends the frame, and what is still under way by
// other ways then goes to scratch. That one of them breaks does no harm to the others:
// which of them its sender relies on is not known here.

// beginPart finds the place of a part of a frame, or of one more copy of it: in the frame
// as it has begun already, or else the frame begins with it.
func (r *rail) beginPart(of *inbound, h *wire.Header, size int) (*inbound, error) {
	pe, which := r.peer, h.Part
	if !h.IsPart() {
		which.Whole = uint32(size)
	}
	if of == nil {
		if most := r.pml.bounds.frames; len(pe.partial) >= most {
			return nil, fmt.Errorf("frame %d begins in part, and so have %d others", h.Frame, most)
		}
		var err error
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
		pe.partial = append(pe.partial, of)
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
	return in, nil
}

// unfinished finds a frame that has come in part, or is coming another way, or nil.
func (pe *peer) unfinished(frame uint32) *inbound {
	for _, in := range pe.partial {
		if in.frame == frame {
			return in
		}
	}
	for i, in := range pe.begun {
		if in.counted && in.frame == frame && (in.kind != wire.Ack || in.numbered) {
			pe.begun[i] = in.split()
			pe.partial = append(pe.partial, in)
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
	return whole
}

// endPart takes note that a part is complete, and of the frame if it was the last one.
func (r *rail) endPart(in *inbound) error {
	pe, of := in.peer, in.partOf
	gaps := len(of.covered)
	err := of.covered.add(in.at, in.at+in.bytes)
	pe.holds.gaps += len(of.covered) - gaps
	r.pml.freeInbound(in)
	if most := r.pml.bounds.gaps; pe.holds.gaps > most {
		err = fmt.Errorf("parts that leave more than %d gaps in frames", most)
	}
	if err != nil || !of.covered.is(of.bytes) {
		return err
	}
	pe.partial = slices.DeleteFunc(pe.partial, func(in *inbound) bool { return in == of })
	for _, in := range pe.begun {
		if in.partOf == of { // it came another way as well, and its place is given back
			in.landing.Revoke(r.pml.scratch)
			in.partOf, in.op, in.kind = nil, nil, wire.Ack
		}
	}
	return r.end(of)
}

// spans are stretches of bytes, in order and apart from each other.
type spans []span

type span struct{ from, to int }

// maxSpans bounds the gaps that a peer can make us remember.
const maxSpans = 1 << 12

// add notes the bytes between from and to.
func (s *spans) add(from, to int) error {
	// Those that touch it are those between i and j, and become one with it.
	i, _ := slices.BinarySearchFunc(*s, from, func(sp span, from int) int { return sp.to - from })
	j := i
	for j < len(*s) && (*s)[j].from <= to {
		from, to = min(from, (*s)[j].from), max(to, (*s)[j].to)
		j++
	}
	if i == j && len(*s) >= maxSpans {
		return fmt.Errorf("parts that leave more than %d gaps in a frame", maxSpans)
	}
	*s = slices.Replace(*s, i, j, span{from, to})
	return nil
}

// is reports whether they are all bytes below n.
func (s spans) is(n int) bool { return len(s) == 1 && s[0] == span{0, n} }
