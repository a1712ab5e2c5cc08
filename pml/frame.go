package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/wire"
)

// txFrame is a frame on its way out. It lives until the transport has released
// it and, if it is counted, the peer has acknowledged it.
type txFrame struct {
	delivery.Frame
	peer    *peer
	op      *operation // whose buffer it refers to; nil if it has a copy
	lane    int
	copy    []byte // from the pool
	short   bool   // the payload is in room
	lost    bool   // it was given up: the memory that it refers to is that of an operation that ends
	opens   bool   // a message of length bytes begins with it, which its rail is to count
	seq     uint32 // of that message, in its context, if it is to be recorded
	context uint64
	length  uint64
	pieces  [][]byte // memory for Frame.More
	packed  packing
	free    *txFrame // the next on the free list
	header  [btl.MaxHeader]byte
	room    [frameRoom]byte
}

// frameRoom is the longest copy for replay that fits into the frame itself.
const frameRoom = 128

// frameOf is the frame whose delivery f is.
func frameOf(f *delivery.Frame) *txFrame { return f.Owner.(*txFrame) }

func (p *PML) newFrame(pe *peer) *txFrame {
	f := p.frames
	if f == nil {
		f = new(txFrame)
		f.Owner = f
	} else {
		p.frames, f.free = f.free, nil
		p.spareFrames--
	}
	f.peer = pe
	return f
}

func (p *PML) freeFrame(f *txFrame) {
	if f.short {
		p.copied -= frameRoom
		f.short = false
	} else {
		p.freeMemory(f)
	}
	f.Reset()
	f.peer, f.lost, f.opens = nil, false, false
	if p.spareFrames < keptSpare {
		f.free, p.frames = p.frames, f
		p.spareFrames++
	}
}

// freeShort is freeFrame for a short frame that is done. Most are, and of most frames there is little to forget.
func (p *PML) freeShort(f *txFrame) {
	p.copied -= frameRoom
	f.ResetUncut()
	f.short, f.opens, f.peer = false, false, nil
	if p.spareFrames < keptSpare {
		f.free, p.frames = p.frames, f
		p.spareFrames++
	}
}

// freeMemory gives back the copy that the frame has, and forgets what it refers to.
func (p *PML) freeMemory(f *txFrame) {
	if f.copy != nil {
		p.copied -= cap(f.copy)
		p.pool.Put(f.copy)
	}
	f.unpack()
	f.packed = packing{}
	clear(f.pieces)
	f.op, f.copy, f.pieces = nil, nil, f.pieces[:0]
}

// keptSpare is how many frames, and how many envelopes, are kept for reuse: some 4 MB and
// 3 MB. What was needed at a peak beyond that is given back.
const keptSpare = 8192

// build encodes the header. A frame over a rail that needs acknowledgement gets
// its number here.
func (f *txFrame) build(h *wire.Header) {
	pe := f.peer
	f.lane = pe.pml.onWay(h.Lane)
	if h.Kind.Control() && f.lane != btl.UrgentLane {
		f.lane = btl.ControlLane
	}
	if !h.Kind.Unnumbered() && !pe.local {
		h.Flags |= wire.FlagCounted
		if pe.pml.closing {
			h.Flags |= wire.FlagAckNow // Close waits for it
		}
		h.Frame, f.Urgent = pe.sent.Add(&f.Frame), f.lane == btl.UrgentLane
	}
	f.Header = f.header[:h.Encode(f.header[:])]
}

// refer makes size bytes of op's buffer, from offset on, the payload, and counts
// the frame as one that holds on to the buffer.
func (f *txFrame) refer(op *operation, offset, size uint64) {
	f.op = op
	op.frames++
	if op.packs && size > 0 {
		f.Size, f.packed.from, f.packed.needed = int(size), offset, true
		return
	}
	f.show(op.buf, offset, size)
}

// show makes size bytes of the memory, from offset on, the payload.
func (f *txFrame) show(m payload.Memory, offset, size uint64) {
	f.pieces = m.Show(&f.Frame.Frame, f.pieces, offset, size)
}

// keep makes a copy of op's whole buffer the payload.
func (f *txFrame) keep(op *operation) {
	p := f.peer.pml
	f.Size = int(op.size)
	if f.Size == 0 {
		return
	}
	f.copy = p.pool.Get(f.Size)
	p.copied += cap(f.copy)
	op.buf.Pack(f.copy)
	f.Payload = f.copy
}

// reserve takes the memory for a copy that is made when the transport has passed
// the payload on: by then the peer is busy receiving it, and nobody waits for the
// copy.
func (f *txFrame) reserve() {
	p := f.peer.pml
	f.copy = p.pool.Get(f.Size)
	p.copied += cap(f.copy)
}

// detach makes the reserved copy, if there is one, the payload, so that the
// operation's buffer is no longer needed.
func (f *txFrame) detach() {
	op := f.op
	if op == nil || f.copy == nil {
		return
	}
	f.CopyPayload(f.copy)
	f.Payload, f.More, f.op = f.copy, nil, nil
	op.takeBack()
	op.released()
}

// awaited reports whether the send of its message is not complete before the frame is delivered.
func (f *txFrame) awaited() bool {
	whole := frameOf(f.Whole())
	return whole.op != nil && whole.copy == nil
}

// settle does what the frame's fate demands: it frees the frame once neither the transport
// nor the peer is needed for it any more, and moves its operation on.
func (f *txFrame) settle() {
	switch f.Fate() {
	case delivery.Unread:
		if f.op != nil && !f.lend() {
			f.detach()
			f.unpack()
		}
	case delivery.Over:
		whole, op := f.Unlink(), f.op
		if op != nil {
			op.takeBack()
		}
		f.peer.pml.freeFrame(f)
		switch {
		case whole != nil: // whose memory they share
			frameOf(whole).settle()
		case op != nil:
			op.released()
		}
	}
}

// released notes that one frame less refers to the operation's buffer.
func (op *operation) released() {
	op.frames--
	if op.isSend {
		op.goesOn()
		op.sendProgressed()
	} else {
		op.retire()
	}
}

// settleFrame is settle for who goes through frames.
func settleFrame(f *delivery.Frame) { frameOf(f).settle() }

// lose gives the frame up: its operation can not complete any more, and may end
// before the transport releases the frame.
func (f *txFrame) lose() {
	if f.op != nil {
		f.op.takeBack()
		f.op.lost = true
		f.op, f.lost = nil, true
	}
}
