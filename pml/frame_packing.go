package pml

import "slices"

// The bytes of a message whose memory is scattered in short runs are packed for the transport, a piece at a time: a frame
// has a copy of its bytes from the moment that it goes to a transport until that has passed it on. A frame that goes
// again is packed again, since its operation still has the memory. So a long message takes packRoom of copies, and
// one piece is packed while the peer takes in the one before.

const (
	// packPiece is how much of such a message goes into one frame. It fits into a processor's second cache, from which
	// the transport copies it.
	packPiece = 128 << 10
	// packRoom is how much the copies for one peer take before the next piece waits.
	packRoom = 1 << 20
	// farRoom is that over a slow way whose transport holds what it takes for a round trip. A far link holds more than packRoom.
	farRoom = 8 << 20
)

// packing is what a frame knows of its copy.
type packing struct {
	from   uint64 // where in the operation's memory the payload begins, or where the transport keeps it
	needed bool
	made   bool // the payload is the copy, from the pool
	kept   bool // the payload is where the transport keeps it
}

// pack makes the copy of a frame that needs one and has none. It is about to be sent, or cut.
func (f *txFrame) pack() {
	if f.packed.made || f.op == nil {
		return
	}
	f.Payload, f.packed.made = f.peer.pml.pool.Get(f.Size), true
	f.op.buf.PackFrom(f.packed.from, f.Payload)
	f.peer.packed += cap(f.Payload)
}

// unpack gives the copy back: nobody reads it any more.
func (f *txFrame) unpack() {
	if !f.packed.made {
		return
	}
	f.peer.packed -= cap(f.Payload)
	f.peer.pml.pool.Put(f.Payload)
	f.Payload, f.packed.made = nil, false
}

// mayPack reports whether there is room for another copy.
func (pe *peer) mayPack() bool {
	return pe.packed < packRoom || pe.packed < farRoom && slices.ContainsFunc(pe.rails, (*rail).isFar)
}

// isFar reports whether the rail is slow, and holds what it takes for a round trip.
func (r *rail) isFar() bool { return r.retains() && r.isSlow() }

// unpacked moves on what has waited for copies to be given back.
func (pe *peer) unpacked() {
	if pe.unpacking && pe.mayPack() {
		pe.unpacking = false
		pe.pump()
	}
}

// atMost is how much of the operation goes into a frame that takes n bytes.
func (op *operation) atMost(n uint64) uint64 {
	if op.packs {
		return min(n, packPiece)
	}
	return n
}
