package strand

import (
	"context"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// Probe waits for a message that a receive with the same source and tag would get, and
// describes it. The message stays to be received.
func (c *Comm) Probe(ctx context.Context, src, tag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if src == ProcNull {
		return nobodys(c.idles(ctx, pml.ReceiveTag("probe", tag)))
	}
	st, err := c.p2p.Probe(ctx, src, tag)
	return Status(st), own(err)
}

// Iprobe is Probe without waiting. It makes progress once; found is false if there is no such
// message.
func (c *Comm) Iprobe(src, tag int) (st Status, found bool, err error) {
	if c == nil {
		return Status{}, false, ErrNilComm
	}
	if src == ProcNull {
		st, err = nobodys(c.idled(pml.ReceiveTag("probe", tag)))
		return st, err == nil, err
	}
	s, found, err := c.p2p.Iprobe(src, tag)
	return Status(s), found, own(err)
}

// Mprobe waits as Probe does and takes the message: only the methods of the result can
// receive it.
func (c *Comm) Mprobe(ctx context.Context, src, tag int) (*Message, error) {
	given.Context(ctx)
	if c == nil {
		return nil, ErrNilComm
	}
	if src == ProcNull {
		return c.nobodysMessage(c.idles(ctx, pml.ReceiveTag("probe", tag)))
	}
	m, err := c.p2p.Mprobe(ctx, src, tag)
	if err != nil {
		return nil, own(err)
	}
	return &Message{m}, nil
}

// Improbe is Mprobe without waiting. It makes progress once; the message is nil, and found is
// false, if there is no such message.
func (c *Comm) Improbe(src, tag int) (m *Message, found bool, err error) {
	if c == nil {
		return nil, false, ErrNilComm
	}
	if src == ProcNull {
		m, err = c.nobodysMessage(c.idled(pml.ReceiveTag("probe", tag)))
		return m, err == nil, err
	}
	taken, found, err := c.p2p.Improbe(src, tag)
	if !found {
		return nil, false, own(err)
	}
	return &Message{taken}, true, nil
}

// nobodysMessage is the message that a matched probe of ProcNull finds.
func (c *Comm) nobodysMessage(refused error) (*Message, error) {
	if refused != nil {
		return nil, refused
	}
	return &Message{c.p2p.NobodysMessage(pml.Status(nullStatus))}, nil
}

// A Message is one that a matched probe ([Comm.Mprobe], [Comm.Improbe]) has taken. No other
// receive can get it. It must be received, once; a second time is [ErrFinished]. The methods
// of a nil Message that receive it return [ErrNoMessage].
type Message struct {
	taken pml.Message
}

// Status describes the message. Its Count is the length of the whole message.
func (m *Message) Status() Status { return Status(m.taken.Status()) }

// Recv receives the message into buf, as [Comm.Recv] does (MPI_Mrecv). If ctx ends before the
// whole message is here, buf is the caller's again, and the message can be received again.
func (m *Message) Recv(ctx context.Context, buf []byte) (Status, error) {
	return m.recv(ctx, pml.As{}, buf, nil)
}

// RecvV is Recv into the pieces of a vector, one after the other.
func (m *Message) RecvV(ctx context.Context, pieces [][]byte) (Status, error) {
	first, more := split(pieces)
	return m.recv(ctx, pml.As{}, first, more)
}

// Irecv starts what Recv does.
func (m *Message) Irecv(buf []byte) (Request, error) {
	return m.irecv(pml.As{}, buf, nil)
}

// IrecvV starts what RecvV does. The slice pieces is the library's as well until the request
// has ended.
func (m *Message) IrecvV(pieces [][]byte) (Request, error) {
	first, more := split(pieces)
	return m.irecv(pml.As{}, first, more)
}

func (m *Message) recv(ctx context.Context, as pml.As, buf []byte, more [][]byte) (Status, error) {
	given.Context(ctx)
	if m == nil {
		return Status{}, ErrNoMessage
	}
	st, err := m.taken.Recv(ctx, as, buf, more)
	return Status(st), own(err)
}

func (m *Message) irecv(as pml.As, buf []byte, more [][]byte) (Request, error) {
	if m == nil {
		return Request{}, ErrNoMessage
	}
	r, err := m.taken.Irecv(as, buf, more)
	return Request{r}, own(err)
}
