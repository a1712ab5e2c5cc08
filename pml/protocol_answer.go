package pml

import "github.com/strandmp/strand/pml/wire"

// A request to send is answered when it has a receive (CLEAR). One that has brought the whole message is answered when that has come: nothing
// is given back then that its sender takes for received, and the answer is the acknowledgement too.

// isAll reports whether the whole message comes with this frame.
func (in *inbound) isAll() bool { return uint64(in.bytes) == in.total }

// clearance is the answer to the request of the operation's message.
func (op *operation) clearance(how wire.Flags) *wire.Header {
	return &wire.Header{Kind: wire.Clear, Lane: op.context.answerLane(), Flags: how, Handle: op.in.handle, Remote: op.handle(),
		Accept: min(op.total, op.size), Round: op.in.round}
}

// answer clears the message for its receive, now or when it has come. The lock is held.
func (op *operation) answer(how wire.Flags) {
	in := op.in
	op.setBusy(true)
	if !in.whole && in.isAll() {
		in.owes, in.how = true, how
		return
	}
	in.peer.sendControl(op.clearance(how))
	if !in.whole && min(op.total, op.size) <= uint64(in.bytes) {
		in.ackNow = true // the sender waits for nothing else
	}
}

// requestCame takes note that a request has come with the whole message. If there is a receive it is answered, else whoever answers it
// acknowledges it.
func (in *inbound) requestCame() error {
	pe, frame, counted := in.peer, in.frame, in.counted
	var answer *wire.Header
	if in.op != nil {
		if in.owes {
			answer = in.op.clearance(in.how)
		}
		in.settle()
	}
	// What has been settled has given its credit back, which the answer carries too.
	err := pe.arrived(frame, counted, false)
	if answer != nil && err == nil {
		pe.sendControl(answer)
	}
	return err
}
