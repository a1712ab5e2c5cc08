package strand

import (
	"context"
	"errors"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// Wildcards and limits of point-to-point operations.
const (
	// AnySource lets a receive or a probe take messages of any rank.
	AnySource = pml.AnySource
	// AnyTag lets a receive or a probe take messages with any tag.
	AnyTag = pml.AnyTag
	// ProcNull is a rank that is nobody's: operations with it do nothing and
	// complete at once (MPI 4.1, section 3.10).
	ProcNull = -2
	// MaxTag is the largest tag.
	MaxTag = pml.MaxTag
	// Undefined is the colour of a process that wants no communicator of Split.
	Undefined = -1
)

// A Status describes a message: its source, a rank of the communicator; its tag;
// and its length in bytes.
type Status = pml.Status

// A Request stands for an operation that was started; the zero Request for none (MPI's
// null request). Those that are returned without an error are never zero.
type Request = pml.Request

// A Message is one that a matched probe has taken. It is received once, by [Mrecv]
// or by its own methods Recv and Irecv, which take the pieces of a buffer too.
type Message = pml.Message

var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// A Comm is a communicator: a group of processes, numbered from 0, and a context
// of its own, so that its messages match no others.
type Comm struct {
	world *World
	p2p   *pml.Context
	coll  *pml.Context // for the library's own messages
	group *pml.Group
	rank  int
	first bool // the world's own
	order Ordering
	turn  turn
}

// newComm makes the communicator of a context id; the next id is its own too.
func (w *World) newComm(id uint64, group *pml.Group, order Ordering) (*Comm, error) {
	c := &Comm{world: w, group: group, rank: group.Rank(w.Rank()), first: w.comm == nil, order: order}
	var err error
	if c.p2p, err = w.pml.NewContext(2*id, group, order == Relaxed); err != nil {
		return nil, err
	}
	if c.coll, err = w.pml.NewContext(2*id+1, group, false); err != nil {
		c.p2p.Free()
		return nil, err
	}
	return c, nil
}

// Rank is this process's number in the communicator, from 0 to Size−1.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes in the communicator.
func (c *Comm) Size() int { return c.group.Size() }

// World returns the world the communicator belongs to.
func (c *Comm) World() *World { return c.world }

// Free ends the communicator on this process. Receives that have no message end
// with ErrFreed; messages that nobody has received are dropped.
func (c *Comm) Free() error {
	if c == nil {
		return ErrNilComm
	}
	if c.first {
		return ErrWorldComm
	}
	c.p2p.Free()
	c.coll.Free()
	return nil
}

// usable reports an error if the communicator is none, freed or closed.
func (c *Comm) usable() error {
	if c == nil {
		return ErrNilComm
	}
	return c.coll.Err()
}

// AckFailed takes note of the members that have failed: receives from any
// source, which fail as long as a failure was not taken note of, work again among
// the others. Those of a communicator that all others have left wait for what this
// process sends to itself.
func (c *Comm) AckFailed() error {
	if c == nil {
		return ErrNilComm
	}
	c.p2p.AcknowledgeFailures()
	return nil
}

func (c *Comm) isend(buf []byte, more [][]byte, dst, tag int, mode pml.Mode) (Request, error) {
	if c == nil {
		return Request{}, ErrNilComm
	}
	if dst == ProcNull {
		return c.p2p.Started(), nil
	}
	return c.p2p.Isend(buf, more, dst, tag, mode)
}

func (c *Comm) send(ctx context.Context, buf []byte, more [][]byte, dst, tag int, mode pml.Mode) error {
	given.Context(ctx)
	if c == nil {
		return ErrNilComm
	}
	if dst == ProcNull {
		return nil
	}
	return c.p2p.Send(ctx, buf, more, dst, tag, mode)
}

// Send sends buf to rank dst and returns when buf may be reused. That need not
// mean that it was received. If ctx ends first the send goes on by itself, and
// buf stays the library's until the world is closed: sends can not be taken back.
func (c *Comm) Send(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Standard)
}

// Ssend is Send, but returns only after the message has matched a receive.
func (c *Comm) Ssend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Synchronous)
}

// BsendOverhead is what a buffered send takes of pml_buffered_max, in bytes, beside the
// copy of its message, which takes the message's length and up to half as much again.
const BsendOverhead = pml.BsendOverhead

// Bsend is Send from a copy: it returns at once, or with ErrBuffer if there is no room
// in pml_buffered_max, of which each message under way takes its length, rounded up by
// at most a half, and BsendOverhead. An empty one, too, takes room.
func (c *Comm) Bsend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Buffered)
}

// Rsend is Send with the caller's word that the receive is posted.
func (c *Comm) Rsend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Ready)
}

// SendV is Send of the pieces of a vector as one message.
func (c *Comm) SendV(ctx context.Context, pieces [][]byte, dst, tag int) error {
	first, more := split(pieces)
	return c.send(ctx, first, more, dst, tag, pml.Standard)
}

// Isend starts what Send does.
func (c *Comm) Isend(buf []byte, dst, tag int) (Request, error) {
	return c.isend(buf, nil, dst, tag, pml.Standard)
}

// Issend starts what Ssend does.
func (c *Comm) Issend(buf []byte, dst, tag int) (Request, error) {
	return c.isend(buf, nil, dst, tag, pml.Synchronous)
}

// Ibsend does what Bsend does; its request is complete from the start.
func (c *Comm) Ibsend(buf []byte, dst, tag int) (Request, error) {
	return c.isend(buf, nil, dst, tag, pml.Buffered)
}

// Irsend starts what Rsend does.
func (c *Comm) Irsend(buf []byte, dst, tag int) (Request, error) {
	return c.isend(buf, nil, dst, tag, pml.Ready)
}

// IsendV starts what SendV does. The slice pieces, too, is the library's until
// the request completes.
func (c *Comm) IsendV(pieces [][]byte, dst, tag int) (Request, error) {
	first, more := split(pieces)
	return c.isend(first, more, dst, tag, pml.Standard)
}

// split separates a vector's first piece from the others.
func split(pieces [][]byte) (first []byte, more [][]byte) {
	if len(pieces) == 0 {
		return nil, nil
	}
	return pieces[0], pieces[1:]
}

func (c *Comm) irecv(buf []byte, more [][]byte, src, tag int) (Request, error) {
	if c == nil {
		return Request{}, ErrNilComm
	}
	if src == ProcNull {
		return c.p2p.Finished(nullStatus), nil
	}
	return c.p2p.Irecv(buf, more, src, tag)
}

func (c *Comm) recv(ctx context.Context, buf []byte, more [][]byte, src, tag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if src == ProcNull {
		return nullStatus, nil
	}
	return c.p2p.Recv(ctx, buf, more, src, tag)
}

// Recv receives a message of rank src, or AnySource, with the given tag, or
// AnyTag, into buf. A message that is longer fills buf and is a *TruncateError.
// If ctx ends first the receive ends with it: buf is the caller's again, and a message
// that had begun to arrive in it waits for another receive, in its place before those
// that were sent later. What is in buf then is of no use.
func (c *Comm) Recv(ctx context.Context, buf []byte, src, tag int) (Status, error) {
	return c.recv(ctx, buf, nil, src, tag)
}

// RecvV is Recv into the pieces of a vector, one after the other.
func (c *Comm) RecvV(ctx context.Context, pieces [][]byte, src, tag int) (Status, error) {
	first, more := split(pieces)
	return c.recv(ctx, first, more, src, tag)
}

// Irecv starts what Recv does.
func (c *Comm) Irecv(buf []byte, src, tag int) (Request, error) {
	return c.irecv(buf, nil, src, tag)
}

// IrecvV starts what RecvV does. The slice pieces, too, is the library's until
// the request completes.
func (c *Comm) IrecvV(pieces [][]byte, src, tag int) (Request, error) {
	first, more := split(pieces)
	return c.irecv(first, more, src, tag)
}

// Sendrecv sends and receives at the same time, so that two processes, or all of
// a ring, may do it with each other.
func (c *Comm) Sendrecv(ctx context.Context, out []byte, dst, sendTag int, in []byte, src, recvTag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if err := pml.Ended(ctx); err != nil {
		return Status{}, err
	}
	rr, err := c.Irecv(in, src, recvTag)
	if err != nil {
		return Status{}, err
	}
	if err := c.Send(ctx, out, dst, sendTag); err != nil {
		pml.Leave(rr)
		return Status{}, err
	}
	st, err := rr.Wait(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		pml.Leave(rr)
	}
	return st, err
}

// Probe waits for a message that a receive with the same source and tag would
// get, and describes it. It stays to be received.
func (c *Comm) Probe(ctx context.Context, src, tag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if src == ProcNull {
		return nullStatus, nil
	}
	return c.p2p.Probe(ctx, src, tag)
}

// Iprobe is Probe without waiting; false means that there is no such message.
func (c *Comm) Iprobe(src, tag int) (Status, bool, error) {
	if c == nil {
		return Status{}, false, ErrNilComm
	}
	if src == ProcNull {
		return nullStatus, true, nil
	}
	return c.p2p.Iprobe(src, tag)
}

// Mprobe is Probe, and takes the message: no other receive can get it, only [Mrecv]
// and the methods of the message.
func (c *Comm) Mprobe(ctx context.Context, src, tag int) (*Message, error) {
	given.Context(ctx)
	if c == nil {
		return nil, ErrNilComm
	}
	if src == ProcNull {
		return c.p2p.NobodysMessage(nullStatus), nil
	}
	return c.p2p.Mprobe(ctx, src, tag)
}

// Improbe is Mprobe without waiting; nil means that there is no such message.
func (c *Comm) Improbe(src, tag int) (*Message, error) {
	if c == nil {
		return nil, ErrNilComm
	}
	if src == ProcNull {
		return c.p2p.NobodysMessage(nullStatus), nil
	}
	return c.p2p.Improbe(src, tag)
}

// Mrecv receives a message that Mprobe or Improbe has taken, once: a second time it
// returns [ErrFinished]. If ctx ends before the whole message is here, buf is the
// caller's again, and the message can be received again.
func Mrecv(ctx context.Context, m *Message, buf []byte) (Status, error) {
	return m.Recv(ctx, buf, nil)
}
