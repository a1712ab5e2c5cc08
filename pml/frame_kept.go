package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/wire"
)

// A transport may keep what it has passed on until the peer has read it ([btl.Keeper]). Then a short message needs no copy
// for replay: that is made when the connection ends, of those frames that are not acknowledged by then
// (docs/decisions/0069-what-the-ring-keeps.md).

var _ btl.Saver = (*rail)(nil)

// A message that goes the short way is no longer than what a transport keeps, and may be as long.
const _ = uint(btl.MostKept - copyFirst)

// keeps reports whether the rail's transport keeps a payload of n bytes for replay. A shorter one is copied into its frame,
// which costs as little. Where there are several networks a frame may go over any of them.
func (r *rail) keeps(n int) bool {
	return n > frameRoom && r.keeper != nil && len(r.peer.networks) == 0
}

// keepsLong is keeps for a message of more than copyFirst bytes, which must be among those that are sent at once. Without a copy its
// send would be complete when it is acknowledged: a frame more, between the message and its answer.
func (r *rail) keepsLong(n int) bool {
	return r.keeps(n) && n <= r.eagerLimit(r.pml.tune.eagerMax)
}

// isKept notes where the payload of a frame is that the rail has taken. If the transport still has to write it, it gets
// a copy: buf is the caller's again.
func (f *txFrame) isKept(r *rail, buf []byte) {
	if f.Held() {
		f.keepShort(buf)
		return
	}
	f.packed.kept, f.packed.from, f.Payload = true, r.keeper.Kept(&f.Frame.Frame), nil
}

// Save implements [btl.Saver].
func (r *rail) Save() {
	r.peer.sent.Each(func(d *delivery.Frame) {
		if f := frameOf(d); f.packed.kept && f.Line == &r.line {
			f.save(r.keeper)
		}
	})
}

// save makes the copy for replay. If the payload is there no more the peer has read it and need not have it again. It will
// not acknowledge the frame before it sends anything, or is asked.
func (f *txFrame) save(from btl.Keeper) {
	f.packed.kept = false
	f.reserve()
	if from.Again(f.packed.from, f.copy) {
		f.Payload = f.copy
		return
	}
	pe := f.peer
	pe.inquires = true
	// The number is one of those that are on their way.
	_ = pe.sent.AcknowledgeRange(delivery.Range{First: wire.Fields(f.Header).Frame(), Count: 1}, frameAcked)
}

// inquire asks the peer what has arrived there, once a rail takes the question.
func (pe *peer) inquire() {
	if r := pe.readyRail(); r != nil && !r.busy {
		r.ask()
		pe.inquires = r.busy
	}
}
