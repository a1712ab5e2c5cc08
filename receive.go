package strand

import (
	"context"
	"errors"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// nullStatus is that of a receive or a probe of ProcNull.
var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// nobodys is the outcome of a receive or a probe of ProcNull.
func nobodys(refused error) (Status, error) {
	if refused != nil {
		return Status{}, refused
	}
	return nullStatus, nil
}

func (c *Comm) irecv(as pml.As, buf []byte, more [][]byte, src, tag int) (Request, error) {
	if c == nil {
		return Request{}, ErrNilComm
	}
	if src == ProcNull {
		return c.idle(pml.ReceiveTag("receive", tag), func() pml.Request { return c.p2p.Finished(pml.Status(nullStatus)) })
	}
	r, err := c.p2p.IrecvAs(as, buf, more, src, tag)
	return Request{r}, own(err)
}

func (c *Comm) recv(ctx context.Context, as pml.As, buf []byte, more [][]byte, src, tag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if src == ProcNull {
		return nobodys(c.idles(ctx, pml.ReceiveTag("receive", tag)))
	}
	st, err := c.p2p.RecvAs(ctx, as, buf, more, src, tag)
	return Status(st), own(err)
}

// Recv receives a message of rank src, or AnySource, with the given tag, or AnyTag, into
// buf. A message that is longer than buf fills it, and the error is a [*TruncateError].
//
// If ctx ends first, the receive ends with it and buf is the caller's again; its contents are
// then of no use. A message that had begun to arrive goes back to its place, before those that
// were sent later. The next receive gets all of it anew. So a receive that is repeated until it
// has a message needs a context that is long enough for a whole one.
func (c *Comm) Recv(ctx context.Context, buf []byte, src, tag int) (Status, error) {
	return c.recv(ctx, pml.As{}, buf, nil, src, tag)
}

// RecvV is Recv into the pieces of a vector, one after the other.
func (c *Comm) RecvV(ctx context.Context, pieces [][]byte, src, tag int) (Status, error) {
	first, more := split(pieces)
	return c.recv(ctx, pml.As{}, first, more, src, tag)
}

// Irecv starts what Recv does.
func (c *Comm) Irecv(buf []byte, src, tag int) (Request, error) {
	return c.irecv(pml.As{}, buf, nil, src, tag)
}

// IrecvV starts what RecvV does. The slice pieces is the library's as well until the request
// has ended.
func (c *Comm) IrecvV(pieces [][]byte, src, tag int) (Request, error) {
	first, more := split(pieces)
	return c.irecv(pml.As{}, first, more, src, tag)
}

// Sendrecv sends and receives at the same time, so that two processes can exchange messages,
// and a ring can pass them on, without a deadlock. Out and in do not overlap. The status is
// the received message's.
//
// If ctx ends first, the receive ends as that of Recv does. If the error is [ErrUnderway] too,
// the send goes on, as that of Send does. Otherwise the send is complete, or was never begun.
// If the send has failed, and a message was received, its status is returned with the error, else that of no message:
// Count is 0.
func (c *Comm) Sendrecv(ctx context.Context, out []byte, dst, sendTag int, in []byte, src, recvTag int) (Status, error) {
	return c.sendrecv(ctx, out, dst, sendTag, pml.As{}, in, src, recvTag)
}

func (c *Comm) sendrecv(ctx context.Context, out []byte, dst, sendTag int, as pml.As, in []byte, src, recvTag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	if st, done, err := c.p2p.SendrecvShort(ctx, out, dst, sendTag, as, in, src, recvTag); done {
		return Status(st), own(err)
	}
	if err := c.refuses(dst, sendTag); err != nil {
		return Status{}, err
	}
	r, err := c.irecv(as, in, nil, src, recvTag)
	if err != nil {
		return Status{}, err
	}
	return received(ctx, r, c.Send(ctx, out, dst, sendTag))
}

// refuses returns why a send would be refused, before its call receives anything.
func (c *Comm) refuses(dst, tag int) error {
	if dst == ProcNull {
		return own(pml.SendTag(tag))
	}
	return own(c.p2p.Refuses(dst, tag))
}

// received ends a Sendrecv: it waits for the receive, or ends it at once if there was an error in sending. A message that is there
// by then is not lost.
func received(ctx context.Context, r Request, sent error) (Status, error) {
	if sent != nil {
		st, _, _ := r.op.EndNow()
		return Status(st), sent
	}
	st, err := r.Wait(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		if late, complete, failed := r.op.EndNow(); complete {
			return Status(late), own(failed)
		}
	}
	return st, err
}
