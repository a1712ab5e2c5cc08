package pml

import (
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/wire"
)

// takes reports whether the rail carries frames as long as this one.
func (r *rail) takes(f *txFrame) bool {
	return f.Size <= r.attr.MaxFrame || !f.Numbered() || r.attr.MaxFrame == 0
}

// transmitOrCut is transmit for a frame that was made for another rail: one that is too
// long is taken to be sent in parts.
func (r *rail) transmitOrCut(f *txFrame) bool {
	if r.takes(f) {
		return r.transmit(f)
	}
	r.cut(f)
	return true
}

// pieceless is the longest frame that several networks do not share.
const pieceless = 64 << 10

// shareOut cuts the frame of a message that is sent at once for all networks to share: a
// message that is alone uses them all.
func (pe *peer) shareOut(f *txFrame) {
	pe.sendInParts(f, max(minPiece, (f.Size+2*len(pe.networks)-1)/(2*len(pe.networks))))
}

// sendInParts cuts a new frame and sends as much of it as is taken now.
func (pe *peer) sendInParts(f *txFrame, limit int) {
	pe.cut(f, limit)
	for pe.sent.Replays() > 0 && pe.replayNext() {
		continue
	}
}

// cut has a frame go in parts that the rail takes.
func (r *rail) cut(f *txFrame) {
	if f.Whole() == &f.Frame {
		r.pml.stats.Cut++
	}
	r.peer.cut(f, r.attr.MaxFrame)
}

// cut has a frame, or a part of one, that no queue and no transport holds go again in
// parts of at most limit bytes.
func (pe *peer) cut(f *txFrame, limit int) {
	p := pe.pml
	f.detach() // the parts refer to what the frame does
	if f.packed.needed {
		f.pack()
	}
	replaced := pe.sent.Cut(&f.Frame, limit, func(whole *delivery.Frame, offset, n int) *delivery.Frame {
		part := p.newFrame(pe)
		part.lane = f.lane
		if offset == 0 {
			part.opens, part.length, part.context, part.seq = f.opens, f.length, f.context, f.seq
		}
		part.show(payload.Memory{First: f.Payload, More: f.More}, uint64(offset), uint64(n))
		which := wire.Part{At: uint32(f.At() + offset), Whole: uint32(whole.Size)}
		part.Header = part.header[:wire.EncodePart(part.header[:], f.Header, which)]
		return &part.Frame
	})
	if replaced {
		p.freeFrame(f)
	}
}

// unread reports whether no transport reads the payload any more of a frame that the peer has not acknowledged.
func (f *txFrame) unread() bool {
	if !f.InParts() {
		return f.Fate() == delivery.Unread
	}
	held := false
	f.EachPart(func(part *delivery.Frame) { held = held || part.Held() })
	return !held
}

// showParts has the parts refer to what the frame refers to now. No transport has them.
func (f *txFrame) showParts() {
	if !f.InParts() {
		return
	}
	whole := payload.Memory{First: f.Payload}
	f.EachPart(func(d *delivery.Frame) {
		part := frameOf(d)
		part.pieces, part.More = part.pieces[:0], nil
		part.show(whole, uint64(part.At()), uint64(part.Size))
	})
}
