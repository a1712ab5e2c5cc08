package pml

import "github.com/strandmp/strand/pml/delivery"

// A send whose frame the transport has passed on needs a copy only if its end is asked for before the peer has
// acknowledged the frame. Many are not: a program begins several, and waits for all of them when most have arrived. Until then the
// program's buffer is lent to the frame (docs/decisions/0072-lent-until-asked-for.md).

// lentAtMost is how many bytes are copied for who waits for sends to a peer. If more are lent the peer is asked to
// acknowledge them, and does so before they could be copied. A message that alone is more than that is copied: it is answered by its
// like (aloneAtMost), and who has that answer waits for nothing else.
const lentAtMost = 128 << 10

// lend leaves the payload of a frame where it is, in the buffer of an operation, unless its end is asked for. Who sleeps until it
// ends would not be woken.
func (f *txFrame) lend() bool {
	op := f.op
	if f.copy == nil || f.Size <= copyFirst || op.wanted || op.orphan || op.waiter != nil || len(op.sets) > 0 {
		return false
	}
	if op.lent == nil {
		op.lent = f
		op.peer.lent += f.Size
	}
	op.setBusy(false)
	return true
}

// takeBack notes that the buffer is lent no more.
func (op *operation) takeBack() {
	if op.lent != nil {
		op.peer.lent -= op.lent.Size
		op.lent = nil
	}
}

// lends reports whether all that a send waits for is that its peer acknowledges what was passed on, or that a copy is made.
func (op *operation) lends() bool { return op.lent != nil && op.lent.Fate() == delivery.Unread }

// claim has a send end as soon as it can: by a copy, if that is all that it needs. It reports whether the send has ended.
func (op *operation) claim() bool {
	if !op.isSend {
		return op.done
	}
	op.wanted = true
	if op.lends() {
		f := op.lent
		f.detach()
		f.unpack()
	}
	return op.done
}

// reclaim has the send end whose buffer is lent to the frame.
func (f *txFrame) reclaim() {
	if op := f.op; op != nil && op.lent == f {
		op.claim()
	}
}

// claimLent has all sends to the peer end that lend their buffers.
func (pe *peer) claimLent() {
	pe.sent.Each(func(d *delivery.Frame) { frameOf(d).reclaim() })
}

// inquiresLent reports whether the peer of a send that lends was asked to acknowledge what was sent last. It asks, if that is worth
// more than copies, and bounds the time until all that is lent to the peer is copied.
func (op *operation) inquiresLent() bool {
	pe := op.peer
	next := pe.sent.Next()
	if pe.inquired != next && pe.lent > max(lentAtMost, op.lent.Size) {
		pe.inquired, pe.inquires = next, true
		pe.inquire()
		op.boundWait()
	}
	return pe.inquired == next
}
