package pml

// Who sends on and on, and never waits, looks for acknowledgements all the same, each time that so many frames more have left which are
// not acknowledged. So frames and copies use the same memory again, which is in a cache, and not megabytes that nobody has used yet.
const (
	lookAfterShort = 128
	lookAfterLong  = 16 // of more than copyFirst bytes, or of whatever length
	// lookLongest: who sends longer messages waits often enough, since a connection takes no more.
	lookLongest = 16 << 10
)

// lookAfter has the engine look for what the peer has sent, if n frames are not acknowledged and as many have left since the last time. Where
// another goroutine waits that one looks. The lock is held, and stays so.
func (pe *peer) lookAfter(n int) {
	if pe.sent.Outstanding() < n {
		return
	}
	if next := pe.sent.Next(); int32(next-pe.lookedAt) >= int32(n) {
		pe.lookedAt = next
		if e := pe.pml.engine; !e.Accompanied() {
			e.Glance(pe.poller)
		}
	}
}

// lookOn is lookAfter for who has waited for an operation that has ended at once, if it is a send.
func (op *operation) lookOn() {
	if op != nil && op.isSend && op.peer != nil && op.size <= lookLongest {
		op.peer.lookAfter(lookAfterLong)
	}
}
