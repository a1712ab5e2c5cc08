package pml

import "time"

// Which messages are copied, so that another connection can send them again while their sender goes on.

// copyFirst is the length up to which the copy for replay is made before the frame is
// sent. So short a message is complete even if no rail takes it yet. Where the transport holds what it was given
// for a round trip longer ones are copied then too.
const copyFirst = 4 << 10

// promptly is the latency below which an acknowledgement comes sooner than a copy of more than
// copyFirst bytes is made.
const promptly = time.Microsecond

// prompt reports whether an acknowledgement comes sooner than such a copy is made, if its sender has a processor.
func (r *rail) prompt() bool { return r.attr.Latency > 0 && r.attr.Latency < promptly }

// awaits reports whether waiting for acknowledgements is cheaper than copying. In a crowd it is not: who waits gives up the
// processor, and gets it back many copies later.
func (r *rail) awaits() bool { return r.prompt() && !r.pml.engine.Crowded() }

// aloneAtMost is the longest message beyond pml_copy_limit that is copied where it is answered by one like it, and nothing else
// is on its way to the peer. Its sender has nothing to do but to wait. If its send were complete only when the answer comes, the
// receive would not be there yet, and the answer's first piece would be copied, by who is waited for. And an acknowledgement needs no frame of its
// own. What is answered by less is not copied: the answer is there sooner. Nor is a buffered send, whose sender does not wait.
const aloneAtMost = 512 << 10

// keeps reports whether a copy for replay is made of the operation's message.
func (pe *peer) keeps(op *operation, r *rail) bool {
	if pe.local || op.size > copyFirst && r.awaits() {
		return false
	}
	t, copied := &pe.pml.tune, pe.pml.copied
	if op.size <= uint64(t.copyLimit) {
		return copied < t.copyPool
	}
	if t.copyLimit == 0 || op.size > uint64(t.eagerAwaited) || copied+int(op.size) > t.copyPool/2 { // half of the room is left to shorter messages
		return false
	}
	if r.isFar() {
		return true // a copy takes a small part of the round trip that its send would wait for
	}
	return op.size <= aloneAtMost && pe.sends == 1 && !op.packs && !op.owned && !r.prompt() && !r.retains() && !pe.divides(op.size, r) && pe.answersAlike(op.size)
}

// divides reports whether a message that is sent at once goes in parts. These refer to what the whole frame does, so a copy would have to be made
// before the first of them goes.
func (pe *peer) divides(size uint64, r *rail) bool {
	return size > uint64(r.attr.MaxFrame) || size > pieceless && len(pe.networks) > 1
}

// answersAlike reports whether half as much as now goes to the peer has come from there since this was asked last. An answer may come over
// another rail than what it answers.
func (pe *peer) answersAlike(size uint64) bool {
	before := pe.cameBefore
	pe.cameBefore = 0
	for _, r := range pe.rails {
		pe.cameBefore += r.traffic.BytesReceived
	}
	return pe.cameBefore-before >= size/2
}
