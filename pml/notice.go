package pml

import (
	"math"

	"github.com/strandmp/strand/pml/match"
)

// A notice is a short message between the libraries of two processes: that a collective call has ended
// early, or a step of an agreement. It is a message like any other, in a context of its own, for which a
// receive is always posted. Who listens is told as it arrives, under the engine's lock, while the program
// computes too.
//
// No failure ends that receive, and no peer is kept alive for it.

// noticeContext is the id of the context of notices. No communicator has it: its leader would be the last of
// 2³¹ ranks, and this its last communicator of 2³².
const noticeContext = math.MaxUint64

// A Listener hears notices, and who has gone. It is called under the engine's lock.
type Listener interface {
	// Notice is told of what a rank of the world says. The memory is the listener's until it returns.
	Notice(from int, b []byte)
	// Gone is told of a rank that has left the world, or has failed.
	Gone(rank int)
}

// bulletin is what a process has to do with notices.
type bulletin struct {
	context  *Context
	listener Listener
	buf      []byte
	awaited  int // calls that wait for notices: they depend on all peers
}

// Listen has notices handed to the listener from now on. A notice takes at most so many bytes. All processes
// listen, once.
func (p *PML) Listen(l Listener, most int) error {
	p.engine.Lock()
	defer p.engine.Unlock()
	c := p.contextOf(noticeContext)
	p.notices = bulletin{context: c, listener: l, buf: make([]byte, most)}
	if _, err := p.newContext(noticeContext, ConsecutiveGroup(0, p.job.Size()), Manner{}); err != nil {
		return err
	}
	p.awaitNotice()
	return nil
}

// awaitNotice posts the receive. What has waited for it is heard at the next poll: no up-call may be made
// while messages are matched.
func (p *PML) awaitNotice() {
	n := &p.notices
	op := p.newOperation()
	op.context = n.context
	op.give(n.buf, nil)
	op.recv.Source, op.recv.Tag = match.Any, 0
	op.orphan, op.then = true, p.hearNotice
	if m := n.context.match.Post(&op.recv); m != nil {
		op.bind(m.Owner.(*inbound), 0)
	}
}

// hearNotice is called as the receive completes.
func (p *PML) hearNotice(op *operation) {
	from, length, failed := op.status.Source, op.status.Count, op.err != nil
	p.engine.Post(func() {
		if p.closing {
			return
		}
		if !failed {
			p.notices.listener.Notice(from, p.notices.buf[:length])
		}
		p.awaitNotice()
	})
}

// tellGone tells the listener of a peer that has left or failed. The operations that depended on it have ended.
func (p *PML) tellGone(rank int) {
	if l := p.notices.listener; l != nil {
		p.engine.Post(func() {
			if !p.closing {
				l.Gone(rank)
			}
		})
	}
}

// Notify sends a notice to a rank of the world, which is not this process. The lock is held ([PML.Locked], or
// by an up-call). The memory is the library's from now on. If the rank is gone nothing is sent.
func (p *PML) Notify(rank int, b []byte) {
	op, err := p.notices.context.isend(b, nil, rank, 0, Standard)
	switch {
	case err != nil || op == nil:
	case op.done:
		p.freeOperation(op)
	default:
		op.orphan = true
	}
}

// Locked calls f under the engine's lock.
func (p *PML) Locked(f func()) {
	p.engine.Lock()
	f()
	p.engine.Unlock()
}

// Glance looks after messages, for who waits for something else, or for nothing: at what no descriptor announces each time, at descriptors
// now and then. It has other goroutines run that wait for a processor, and processes if that is asked for, and reports whether
// another goroutine waits for messages.
func (p *PML) Glance(processes bool) (company bool) {
	p.engine.Lock()
	defer p.engine.Unlock()
	if !p.engine.Accompanied() {
		p.engine.Glance(silent{})
	}
	return p.engine.MakeWay(processes)
}

// silent is a source of which nothing comes.
type silent struct{}

// Poll implements [btl.Poller].
func (silent) Poll() bool { return false }

// Departed returns why nothing more will be heard of a rank of the world, or nil. The lock is held.
func (p *PML) Departed(rank int) error {
	if pe := p.peers[rank]; pe != nil {
		return pe.failure
	}
	return nil
}

// Awaits says that a call begins to wait for notices, or, with −1, that one does so no more. Meanwhile all
// peers are asked for signs of life. The lock is held.
func (p *PML) Awaits(n int) { p.notices.awaited += n }

// WasFreed reports whether there was a context of that id, which is no more. The lock is held.
func (p *PML) WasFreed(id uint64) bool { return p.freed.has(id) }

// Revoke ends the context for good, though not its Err: receives that have no message end with the error, and
// so does what is started. Messages that nobody has received are dropped, and their senders need not wait.
// The lock is held.
func (c *Context) Revoke(err error) {
	if c.freed || c.revoked != nil {
		return
	}
	c.revoked = err
	c.endReceives(err)
	c.discard()
	c.pml.wakeProbers()
}

// Unmake is Revoke of a context that a member may never make. It does not answer then what it is sent there. So nobody waits any more for what was
// sent, which goes on by itself, as after the end of a blocking call's context. The lock is held.
func (c *Context) Unmake(err error) {
	c.Revoke(err)
	c.pml.eachOperation(func(op *operation) {
		if op.context == c && op.isSend && !op.orphan {
			op.letGo()
		}
	})
}
