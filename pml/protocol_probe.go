package pml

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml/match"
)

// A Message is one that a matched probe has taken: only its Recv and Irecv can receive
// it. It must be received once. The zero Message is none.
type Message struct {
	in      *inbound
	nobodys bool // a message of nobody, with no data
	context *Context
	status  Status
}

// NobodysMessage is what a matched probe for messages of nobody finds.
func (c *Context) NobodysMessage(st Status) Message {
	return Message{nobodys: true, context: c, status: st}
}

// Status describes the message; Count is the length of the whole message.
func (m *Message) Status() Status { return m.status }

// find looks for a message that a receive posted now would get.
func (c *Context) find(source int32, tag int) *inbound {
	if m := c.match.Probe(source, int32(tag)); m != nil {
		return m.Owner.(*inbound)
	}
	return nil
}

func (c *Context) statusOf(in *inbound) Status {
	return Status{Source: c.group.Rank(in.peer.rank), Tag: int(in.Tag), Count: int(min(in.total, math.MaxInt))} // no longer one can be received
}

// look finds a message that has come, if what a probe names is right. The lock is held.
func (c *Context) look(src, tag int) (in *inbound, source int32, err error) {
	if err := c.usable(); err != nil {
		return nil, 0, err
	}
	if source, err = c.matchable("probe", src, tag); err != nil {
		return nil, 0, err
	}
	return c.find(source, tag), source, nil
}

// lookAgain finds a message after a round of progress, or returns why none will come. The lock is held.
func (c *Context) lookAgain(source int32, tag int) (*inbound, error) {
	c.pml.engine.Poll(c.pml.expectedFrom(source))
	if in := c.find(source, tag); in != nil {
		return in, nil
	}
	return nil, c.prospect(source)
}

// arrival is the condition that a probe waits for.
type arrival struct {
	context *Context
	source  int32
	tag     int
	number  uint64 // of all probes that have waited; the memory may be another one's later
	seen    uint64 // the version of the lists that was looked at
	in      *inbound
	err     error
	waiter  *engine.Waiter
}

// Done implements [engine.Condition].
func (a *arrival) Done() bool {
	if a.in != nil {
		a.in = a.context.find(a.source, a.tag) // whoever had the lock meanwhile may have taken it
	}
	if a.in != nil || a.err != nil {
		return true
	}
	if a.err = a.context.usable(); a.err == nil {
		a.err = a.context.prospect(a.source)
	}
	if a.err == nil && a.source == match.Any {
		a.context.seekCompany()
	}
	if v := a.context.match.Version(); v != a.seen {
		a.seen = v
		if a.in = a.context.find(a.source, a.tag); a.in != nil {
			a.err = nil
		}
	}
	return a.in != nil || a.err != nil
}

// Park implements [engine.Condition].
func (a *arrival) Park(w *engine.Waiter) {
	p := a.context.pml
	if w == nil {
		p.removeProber(a.waiter)
	} else {
		p.probers = append(p.probers, w)
	}
	a.waiter = w
}

func (p *PML) removeProber(w *engine.Waiter) {
	if i := slices.Index(p.probers, w); i >= 0 {
		p.probers = slices.Delete(p.probers, i, i+1)
	}
}

// wakeProbers has parked probes look again.
func (p *PML) wakeProbers() {
	for _, w := range p.probers {
		p.engine.Wake(w)
	}
}

// waitFor blocks until there is a message. The lock is held.
func (c *Context) waitFor(ctx context.Context, src, tag int) (*inbound, error) {
	if err := Ended(ctx); err != nil {
		return nil, err
	}
	in, source, err := c.look(src, tag)
	if in != nil || err != nil {
		return in, err
	}
	if c.prospect(source) != nil {
		if in, err = c.lookAgain(source, tag); in != nil || err != nil {
			return in, err
		}
	}
	p := c.pml
	a := p.newArrival(arrival{context: c, source: source, tag: tag, seen: c.match.Version()})
	wait := p.traceWait(1)
	err = p.engine.Wait(ctx, a, p.expectedFrom(source))
	p.traceWaited(wait, err)
	if in = a.in; err == nil {
		err = a.err
	}
	p.endArrival(a)
	if err != nil {
		return nil, err
	}
	return in, nil
}

// newArrival notes that a probe waits.
func (p *PML) newArrival(as arrival) *arrival {
	a := p.spareArrival
	if a == nil {
		a = new(arrival)
	}
	p.spareArrival = nil
	p.probes++
	*a = as
	a.number = p.probes
	p.probing = append(p.probing, a)
	return a
}

// endArrival notes that it does no longer.
func (p *PML) endArrival(a *arrival) {
	if i := slices.Index(p.probing, a); i >= 0 {
		p.probing = slices.Delete(p.probing, i, i+1)
	}
	*a = arrival{}
	p.spareArrival = a
}

// Probe waits for a message that a receive with the same source and tag would
// get and describes it.
func (c *Context) Probe(ctx context.Context, src, tag int) (Status, error) {
	given.Context(ctx)
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	in, err := c.waitFor(ctx, src, tag)
	if err != nil {
		return Status{}, err
	}
	return c.statusOf(in), nil
}

// glance is a probe that does not wait: that nobody is left to send is nothing to it.
func (c *Context) glance(src, tag int) (*inbound, error) {
	in, source, err := c.look(src, tag)
	if in != nil || err != nil {
		return in, err
	}
	if in, err = c.lookAgain(source, tag); errors.Is(err, errDeserted) {
		err = nil
	}
	return in, err
}

// Iprobe is Probe without waiting: false means that there is no such message.
func (c *Context) Iprobe(src, tag int) (Status, bool, error) {
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	in, err := c.glance(src, tag)
	if in == nil {
		return Status{}, false, err
	}
	return c.statusOf(in), true, nil
}

// Mprobe waits for a message as Probe does and takes it.
func (c *Context) Mprobe(ctx context.Context, src, tag int) (Message, error) {
	given.Context(ctx)
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	in, err := c.waitFor(ctx, src, tag)
	if err != nil {
		return Message{}, err
	}
	return c.takeMessage(in), nil
}

// Improbe is Mprobe without waiting: false means that there is no such message.
func (c *Context) Improbe(src, tag int) (Message, bool, error) {
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	in, err := c.glance(src, tag)
	if in == nil {
		return Message{}, false, err
	}
	return c.takeMessage(in), true, nil
}

func (c *Context) takeMessage(in *inbound) Message {
	c.match.Take(&in.Message)
	c.pml.hold(in)
	return Message{in: in, context: c, status: c.statusOf(in)}
}

// hold notes that a matched probe has taken a message, or has it back. Once the world is being closed nobody receives it any more.
func (p *PML) hold(in *inbound) {
	if p.closing {
		in.refuse()
		return
	}
	in.next, in.prev = p.taken, nil
	if p.taken != nil {
		p.taken.prev = in
	}
	p.taken = in
}

// letGo notes that a message which a matched probe has taken is received.
func (p *PML) letGo(in *inbound) {
	if in.prev != nil {
		in.prev.next = in.next
	} else {
		p.taken = in.next
	}
	if in.next != nil {
		in.next.prev = in.prev
	}
	in.next, in.prev = nil, nil
}

// refuseTaken refuses the messages that matched probes have taken and nobody has received.
func (p *PML) refuseTaken() {
	for in := p.taken; in != nil; in = p.taken {
		p.letGo(in)
		in.refuse()
	}
}

// Irecv starts to receive the message.
func (m *Message) Irecv(as As, buf []byte, more [][]byte) (Request, error) {
	if m.context == nil {
		return Request{}, ErrNoMessage
	}
	p := m.context.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	return p.begun(m.irecvOf(as, buf, more))
}

// Recv receives the message. If ctx ends first the message is as it was: it can be
// received again.
func (m *Message) Recv(ctx context.Context, as As, buf []byte, more [][]byte) (Status, error) {
	given.Context(ctx)
	if m.context == nil {
		return Status{}, ErrNoMessage
	}
	if err := Ended(ctx); err != nil {
		return Status{}, err
	}
	p := m.context.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	op, err := m.irecvOf(as, buf, more)
	if err != nil {
		return Status{}, err
	}
	st, in, err := p.awaitOrLeave(ctx, op)
	if m.in = in; in != nil {
		p.hold(in)
	}
	return st, err
}

func (m *Message) irecv(buf []byte, more [][]byte) (*operation, error) {
	return m.irecvOf(As{}, buf, more)
}

// irecvOf is irecv into memory that is a message in some way.
func (m *Message) irecvOf(as As, buf []byte, more [][]byte) (*operation, error) {
	if m.in == nil && !m.nobodys {
		return nil, receivedError{}
	}
	if m.context.pml.closing {
		return nil, ErrClosed
	}
	if m.nobodys {
		m.nobodys = false
		return m.context.finished(m.status), nil
	}
	op := m.context.pml.newOperation()
	op.context, op.needs = m.context, as.Needs
	op.take(buf, more, as.Layout)
	op.recv.Source, op.recv.Tag = match.Any, match.Any
	in := m.in
	m.in = nil
	m.context.pml.letGo(in)
	if op.pml.trace != nil {
		op.traceReceive()
	}
	op.bind(in, 0)
	return op, nil
}
