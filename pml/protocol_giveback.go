package pml

import (
	"fmt"
	"math"
	"slices"

	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/wire"
)

// A blocking receive whose context ends gives back the message that it has begun to take.
// The message waits for another receive, at its old place. One whose first frame brings all of it
// is kept here, as one that found no receive is. The data of a rendezvous stays with its sender, who is
// told to forget the clearance (CLEAR with the flag "withdrawn"), and begins anew at the
// next one.
//
// The sender would take the message for delivered if all that it has sent by then were
// acknowledged before it knows. So what still arrives of it is not, until the withdrawal
// itself is acknowledged; that long the receive's operation lives on.

// giveBack ends a receive that has matched and is not complete, and returns its message.
func (op *operation) giveBack() *inbound {
	op.setBusy(false)
	op.unbind()
	in := op.in
	op.in = nil
	if in.asked && !in.isAll() {
		return op.withdraw(in)
	}
	in.owes = false
	in.keep()
	op.pml.freeOperation(op)
	return in
}

// putBack offers a message that was given back to other receives and to probes.
func (p *PML) putBack(in *inbound) {
	in.context.match.Return(&in.Message)
	p.wakeProbers()
}

// keep has a message that is arriving into a receive's buffer go on into memory of our
// own, for which it was charged.
func (in *inbound) keep() {
	op, pe := in.op, in.peer
	in.op = nil
	if in.data != nil {
		return
	}
	in.data = pe.pml.pool.Get(in.bytes)
	for _, arriving := range pe.begun {
		if arriving == in || arriving.partOf == in {
			arriving.landing.Settle()
		}
	}
	op.buf.Pack(in.data)
	for _, arriving := range pe.begun {
		if arriving == in || arriving.partOf == in {
			arriving.op = nil
			arriving.landing.Divert(in.data[arriving.at : arriving.at+arriving.bytes])
		}
	}
}

// withdraw tells the sender of a message that the receive which it was cleared for has
// ended, and returns the message as one that waits to be cleared.
func (op *operation) withdraw(in *inbound) *inbound {
	p, pe, frame := op.pml, op.peer, in
	if in.whole {
		in.op, in.bytes = nil, 0
	} else {
		in = in.detached()
	}
	op.withdrawn = true
	pe.eachArriving(func(arriving *inbound) {
		if arriving.op == op || arriving.partOf == frame {
			arriving.landing.Revoke(p.scratch)
		}
	})
	round := in.round
	in.round++
	in.waitForReceive()
	op.buf = payload.Memory{}
	if pe.self() {
		if sender := p.lookup(in.handle, pe, true); sender != nil {
			sender.withdrawal(round)
		}
		pe.revoke(func(o *operation) bool { return o == op }) // what arrives still names it
		p.freeOperation(op)
		return in
	}
	op.orphan = true
	pe.withdrawing = append(pe.withdrawing, op)
	f := p.newFrame(pe)
	f.op = op
	op.frames++
	f.build(&wire.Header{Kind: wire.Clear, Flags: wire.FlagWithdrawn | wire.FlagAckNow, Handle: in.handle, Round: round})
	pe.emit(f)
	return in
}

// detached returns a message whose first frame is still arriving as one that waits for no
// frame. What the frame still brings is not wanted any more.
func (in *inbound) detached() *inbound {
	p := in.peer.pml
	alone := p.newInbound(in.peer, &wire.Header{Kind: wire.Request}, 0)
	alone.Message = in.Message
	alone.Owner = alone
	alone.context, alone.total, alone.handle, alone.round = in.context, in.total, in.handle, in.round
	alone.asked, alone.numbered, alone.whole = true, true, true
	in.release()
	if in.data != nil {
		p.pool.Put(in.data)
		in.data = nil
	}
	return alone
}

// retire ends a receive that was withdrawn, once the sender knows: what has arrived of
// the message since then may be acknowledged.
func (op *operation) retire() {
	pe := op.peer
	pe.withdrawing = slices.DeleteFunc(pe.withdrawing, func(o *operation) bool { return o == op })
	pe.revoke(func(o *operation) bool { return o == op })
	for _, frame := range op.late {
		// That there are too many gaps is for the next frame to find out.
		_ = pe.arrived(frame, true, true)
	}
	op.complete(nil)
}

// late reports whether a frame has arrived that is not acknowledged yet.
func (pe *peer) late(frame uint32) bool {
	return slices.ContainsFunc(pe.withdrawing, func(op *operation) bool { return slices.Contains(op.late, frame) })
}

// comesLate keeps the number of a frame that has arrived after the withdrawal.
func (op *operation) comesLate(frame uint32) error {
	if most := op.pml.bounds.frames; len(op.late) >= most {
		return fmt.Errorf("frame %d of a message that was given back, and so were %d others", frame, most)
	}
	op.late = append(op.late, frame)
	return nil
}

// withdrawal takes the receiver's word that what it has cleared, in that round or
// before, is void.
func (op *operation) withdrawal(round uint32) {
	if round < op.round || round == math.MaxUint32 {
		return
	}
	op.round = round + 1
	op.clearedStreams().remove(op)
	op.cleared, op.rests, op.offset, op.accept, op.remote = false, false, 0, 0, 0
}

// goesOn has the data of a send that was cleared anew follow, once no frame of an earlier
// round is left. The receiver drops what those bring. Were there some of each round, the
// next round would wait behind all of them, and receives that end soon would never get the
// message, nor others what was sent to the same process.
func (op *operation) goesOn() {
	if op.rests && op.frames == 0 {
		op.rests, op.peer.resumed = false, true
		op.clearedStreams().push(op)
	}
}
