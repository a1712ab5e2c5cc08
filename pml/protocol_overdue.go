package pml

import (
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
)

// overdue is sends that calls wait for and that are complete but for the peer's acknowledgement. That mostly comes
// within microseconds. It is late if the peer computes: it may have expected to answer at once, or polls nothing at
// all. Then what was sent is copied after all, and the caller need not wait until the peer polls.
type overdue struct {
	sends []overdueSend
	spare []overdueSend // the other buffer of sends
	timer btl.Rearmer
	due   int64 // when it fires; 0: it does not run
}

type overdueSend struct {
	request Request
	at      int64 // when its acknowledgement is late
	after   time.Duration
}

// copyAfter is how long a call waits for an acknowledgement before it has a copy made, beside a nanosecond for each
// byte: several times what it takes to receive and to answer, and to make the copy.
const copyAfter = 100 * time.Microsecond

// boundWait bounds how long a call waits for the acknowledgement of a send.
func (op *operation) boundWait() {
	p, pe := op.pml, op.peer
	if op.done || op.overdue || op.packs || op.asked || pe.local || !op.lends() && pe.heard != nil && pe.heard.prompt() {
		return
	}
	op.overdue = true
	after := copyAfter + time.Duration(op.size)
	now := p.engine.Now()
	s := overdueSend{requestOf(op), now + int64(after), after}
	p.overdue.sends = append(p.overdue.sends, s)
	p.lookOverdue(s.at, now)
}

// lookOverdue has copyOverdue called at the given time, or before.
func (p *PML) lookOverdue(at, now int64) {
	o := &p.overdue
	if o.due != 0 && o.due <= at {
		return
	}
	o.due = at
	if o.timer == nil {
		o.timer = p.engine.After(time.Duration(at-now), p.copyOverdue).(btl.Rearmer)
	} else {
		o.timer.Reset(time.Duration(at - now))
	}
}

// copyOverdue copies what has been waited for for too long. What can not be copied now is looked at again, ever more seldom.
func (p *PML) copyOverdue() {
	o, now := &p.overdue, p.engine.Now()
	sends := o.sends
	o.sends, o.spare, o.due = o.spare, sends[:0], 0 // a send that is complete may lead to others
	for _, s := range sends {
		if s.request.over() {
			continue
		}
		op := s.request.op
		if now >= s.at {
			if op.copySent(); s.request.over() {
				continue
			}
			if op.blocked == 0 {
				op.overdue = false
				continue
			}
			s.after *= 2
			s.at = now + int64(s.after)
		}
		o.sends = append(o.sends, s)
		p.lookOverdue(s.at, now)
	}
}

// copySent copies the payloads of a send's frames that no transport reads any more, so that the send holds on to them no
// longer. One that has asked keeps its buffer until the peer has acknowledged all: the receiver may give the message back, and
// want it once more.
func (op *operation) copySent() {
	p := op.pml
	if op.asked {
		return
	}
	if op.lends() { // and so are the others late
		op.peer.claimLent()
		return
	}
	op.peer.sent.Each(func(d *delivery.Frame) {
		f := frameOf(d.Whole())
		if f.op == op && f.copy == nil && f.unread() && p.copied < p.tune.copyPool {
			f.reserve()
			f.detach()
			f.showParts()
		}
	})
}
