package strand

import (
	"context"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

func (c *Comm) isend(buf []byte, more [][]byte, dst, tag int, mode pml.Mode) (Request, error) {
	if c == nil {
		return Request{}, ErrNilComm
	}
	if dst == ProcNull {
		return c.idle(pml.SendTag(tag), c.p2p.Started)
	}
	r, err := c.p2p.Isend(buf, more, dst, tag, mode)
	return Request{r}, own(err)
}

func (c *Comm) send(ctx context.Context, buf []byte, more [][]byte, dst, tag int, mode pml.Mode) error {
	given.Context(ctx)
	if c == nil {
		return ErrNilComm
	}
	if dst == ProcNull {
		return c.idles(ctx, pml.SendTag(tag))
	}
	return own(c.p2p.Send(ctx, buf, more, dst, tag, mode))
}

// idles is what a call with [ProcNull] returns that would block with another rank. It does nothing, but is refused where that one would be:
// for its tag too.
func (c *Comm) idles(ctx context.Context, tag error) error {
	if err := pml.Ended(ctx); err != nil {
		return err
	}
	return c.idled(tag)
}

// idled is idles for a call that does not block.
func (c *Comm) idled(tag error) error {
	if err := c.p2p.Err(); err != nil {
		return err
	}
	return own(tag)
}

// idle is idles for a call that starts an operation.
func (c *Comm) idle(tag error, request func() pml.Request) (Request, error) {
	if err := c.idled(tag); err != nil {
		return Request{}, err
	}
	return Request{request()}, nil
}

// Send sends buf to rank dst and returns when buf may be reused. The message need not have
// been received by then.
//
// If ctx has ended before, nothing is sent. If it ends while Send waits, the send goes on by
// itself, since a send can not be taken back, and buf stays the library's until the world is
// closed; the error is then [ErrUnderway] as well as the context's.
func (c *Comm) Send(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Standard)
}

// Ssend is Send, but returns only after the message has matched a receive (MPI's synchronous
// mode).
func (c *Comm) Ssend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Synchronous)
}

// BsendOverhead is what a buffered send takes of pml_buffered_max, in bytes, beside the copy
// of its message (MPI_BSEND_OVERHEAD). The copy takes the message's length and up to half as
// much again.
const BsendOverhead = pml.BsendOverhead

// Bsend sends a copy of buf and returns at once. It returns [ErrBuffer] if there is no room
// for the copy in pml_buffered_max. Each message under way takes its length of that, rounded
// up by at most a half, and [BsendOverhead]; so an empty one takes room too.
func (c *Comm) Bsend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Buffered)
}

// Rsend is Send by a caller who states that the receive is posted (MPI's ready mode). It
// sends in the same way, and a message without a posted receive is no error.
func (c *Comm) Rsend(ctx context.Context, buf []byte, dst, tag int) error {
	return c.send(ctx, buf, nil, dst, tag, pml.Ready)
}

// SendV is Send of one message that consists of the pieces, one after the other.
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

// IsendV starts what SendV does. The slice pieces is the library's as well until the request
// has ended.
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
