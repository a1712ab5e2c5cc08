package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// A frame is made for the rail that is to carry it. If that breaks, or another one
// goes first, it may come to one that takes less: then its payload goes in parts, each
// with the frame's own header and number, and where in the payload it belongs. The
// number has arrived when all of the payload has, in whatever shape. So nothing has to
// be known of what arrived in an earlier one, and no frame is shorter than its own rail
// needs. What was cut stays cut, and a part may be cut again.

// takes reports whether the rail carries frames as long as this one.
func (r *rail) takes(f *txFrame) bool {
	return f.Size <= r.attr.MaxFrame || !f.counted || r.attr.MaxFrame == 0
}

// transmitOrCut is transmit for a frame that was made for another rail: one that is too
// long is taken to be sent in parts.
func (r *rail) transmitOrCut(f *txFrame) bool {
	if r.takes(f) {
		return r.transmit(f)
	}
	r.peer.cut(f, r.attr.MaxFrame)
	return true
}

// cut has a frame, or a part of one, that no queue and no transport holds go again in
// parts of at most limit bytes.
func (pe *peer) cut(f *txFrame, limit int) {
	p := pe.pml
	f.detach() // the parts refer to what the frame does
	whole := f
	if f.whole != nil {
		whole = f.whole
	} else {
		p.stats.Cut++
	}
	for at := 0; at < f.Size; at += limit {
		part := p.newFrame(pe)
		part.whole, part.at, part.lane, part.counted, part.sent = whole, f.at+at, f.lane, true, f.sent
		part.show(&f.Frame, at, min(limit, f.Size-at))
		which := wire.Part{At: uint32(part.at), Whole: uint32(whole.Size)}
		part.Header = part.header[:wire.EncodePart(part.header[:], f.Header, which)]
		part.sibling, whole.parts = whole.parts, part
		part.queued = true
		pe.again.push(part)
	}
	if f != whole {
		f.unlink()
		p.freeFrame(f)
	}
}

// show makes n bytes of another frame's payload, from offset on, the payload.
func (f *txFrame) show(of *btl.Frame, offset, n int) {
	f.carry(buffer{of.Payload, of.More}, uint64(offset), uint64(n))
}

// delivered reports whether the peer has all of the frame, or of the one that this is a
// part of.
func (f *txFrame) delivered() bool { return f.acked || f.whole != nil && f.whole.acked }

// wasSent reports whether a transport has taken the frame, or any of its parts: a peer
// that does not want a frame acknowledges it with the first one.
func (f *txFrame) wasSent() bool {
	sent := f.sent
	for part := f.parts; part != nil && !sent; part = part.sibling {
		sent = part.sent
	}
	return sent
}

// eachPart calls do for the frame, or for each of its parts if it was cut.
func (f *txFrame) eachPart(do func(*txFrame)) {
	if f.parts == nil {
		do(f)
	}
	for part := f.parts; part != nil; part = part.sibling {
		do(part)
	}
}

// eachSent calls do for all that is not acknowledged, as it went or is to go.
func (pe *peer) eachSent(do func(*txFrame)) {
	pe.sent.each(func(f *txFrame) { f.eachPart(do) })
}

// partsAcked notes that the peer has all parts of a frame.
func (f *txFrame) partsAcked() {
	f.eachPart(func(part *txFrame) {
		if part.rail != nil {
			part.rail.vital.acked++
			part.rail.vital.gone += int64(part.Size)
		}
	})
	f.settleParts()
}

// settleParts settles the parts of a frame, of which the last one settles the frame.
func (f *txFrame) settleParts() {
	for part := f.parts; part != nil; {
		next := part.sibling
		part.settle()
		part = next
	}
}

// settlePart frees a part that is not needed any more, and with the last one settles the
// frame, whose memory they share.
func (f *txFrame) settlePart() {
	whole := f.whole
	if !whole.acked {
		return
	}
	f.unlink()
	f.peer.pml.freeFrame(f)
	whole.settle()
}

// unlink takes a part from its frame's list.
func (f *txFrame) unlink() {
	at := &f.whole.parts
	for *at != f {
		at = &(*at).sibling
	}
	*at = f.sibling
}
