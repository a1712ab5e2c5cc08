package pml

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/wire"
)

// irecv starts a receive and returns its operation. The lock is held.
func (c *Context) irecv(buf []byte, more [][]byte, src, tag int) (*operation, error) {
	return c.irecvOf(As{}, buf, more, src, tag)
}

// irecvOf is irecv into memory that is a message in some way.
func (c *Context) irecvOf(as As, buf []byte, more [][]byte, src, tag int) (*operation, error) {
	if err := c.startable(); err != nil {
		return nil, err
	}
	source, err := c.matchable("receive", src, tag)
	if err != nil {
		return nil, err
	}
	op := c.pml.newOperation()
	op.context, op.needs = c, as.Needs
	op.take(buf, more, as.Layout)
	op.recv.Source, op.recv.Tag = source, int32(tag)
	if op.pml.trace != nil {
		op.traceReceive()
	}
	if m := c.match.Post(&op.recv); m != nil {
		op.bind(m.Owner.(*inbound), 0)
		return op, nil
	}
	if err := c.prospect(source); err != nil && !errors.Is(err, errDeserted) {
		c.match.Cancel(&op.recv)
		c.pml.freeOperation(op)
		return nil, err
	}
	return op, nil
}

// matchable checks what a receive or a probe names and returns the source as a
// rank of the world.
func (c *Context) matchable(what string, src, tag int) (int32, error) {
	if err := ReceiveTag(what, tag); err != nil {
		return 0, err
	}
	if src == AnySource {
		return match.Any, nil
	}
	if err := c.group.check(src); err != nil {
		return 0, fmt.Errorf("%s: source %w", what, err)
	}
	return int32(c.group.World(src)), nil
}

// matched is called for every match that an arrival or a cancellation
// brings about.
func matched(r *match.Recv, m *match.Message) {
	r.Owner.(*operation).bind(m.Owner.(*inbound), wire.FlagAwaited)
}

// bind joins a receive and its message. How is [wire.FlagAwaited] if the receive was there
// first.
func (op *operation) bind(in *inbound, how wire.Flags) {
	pe := in.peer
	in.answered()
	op.peer, in.op = pe, op
	op.total = in.total
	accept := min(op.total, op.size)
	op.describe(op.context.group.Rank(pe.rank), in.Tag)
	op.refuseUnlike(pe)
	if op.pml.trace != nil {
		op.traceMatched(pe, in.Tag, in.Seq)
	}
	if pe.failure != nil && (!in.whole || uint64(in.bytes) < accept) {
		op.abandon(pe.failure)
		in.op = nil
		in.unwanted()
		return
	}
	op.bound, op.in = true, in
	op.booked = min(uint64(in.bytes), op.size)
	pe.taking++
	if in.asked && pe.failure == nil {
		op.answer(how)
	}
	if in.whole {
		in.settle()
	}
}

// describe sets the status of a receive, and its error if the message is too
// long for it.
func (op *operation) describe(source int, tag int32) {
	op.status = Status{Source: source, Tag: int(tag), Count: int(min(op.total, op.size))}
	if op.total > op.size {
		op.pml.stats.Truncated++
		op.err = &TruncateError{Source: source, Tag: int(tag), Message: int64(op.total), Buffer: int64(op.size)}
	}
}

// sendControl sends a frame that is a header only.
func (pe *peer) sendControl(h *wire.Header) {
	f := pe.pml.newFrame(pe)
	f.build(h)
	pe.emit(f)
}

// landed notes that n bytes of the message are in place.
func (op *operation) landed(n uint64) {
	op.got += n
	if op.first && op.got == min(op.total, op.size) {
		op.complete(nil)
	}
}

// Irecv starts a receive into buf, or into the pieces buf and more. Source is a
// rank of the context's group or AnySource, tag may be AnyTag. The memory is the
// library's until the request completes, and so is the slice more.
func (c *Context) Irecv(buf []byte, more [][]byte, src, tag int) (Request, error) {
	return c.IrecvAs(As{}, buf, more, src, tag)
}

// IrecvAs is Irecv into memory that is a message in some way.
func (c *Context) IrecvAs(as As, buf []byte, more [][]byte, src, tag int) (Request, error) {
	p := c.pml
	p.engine.Lock()
	if more == nil && as.Layout == nil {
		if op := c.postShort(buf, as.Needs, src, tag); op != nil {
			p.engine.Unlock()
			return requestOf(op), nil
		}
	}
	r, err := p.begun(c.irecvOf(as, buf, more, src, tag))
	p.engine.Unlock()
	return r, err
}

// Recv receives and waits for the message. A context that has ended before leaves
// all messages where they are.
func (c *Context) Recv(ctx context.Context, buf []byte, more [][]byte, src, tag int) (Status, error) {
	return c.RecvAs(ctx, As{}, buf, more, src, tag)
}

// RecvAs is Recv into memory that is a message in some way.
func (c *Context) RecvAs(ctx context.Context, as As, buf []byte, more [][]byte, src, tag int) (Status, error) {
	if err := Ended(ctx); err != nil {
		return Status{}, err
	}
	c.pml.engine.Lock()
	st, err := c.await(ctx, as, buf, more, src, tag)
	c.pml.engine.Unlock()
	return st, err
}

// await receives and waits. The lock is held.
func (c *Context) await(ctx context.Context, as As, buf []byte, more [][]byte, src, tag int) (Status, error) {
	if more == nil && as.Layout == nil {
		if st, done := c.recvShort(buf, as.Needs, src, tag); done {
			return st, nil
		}
	}
	op, err := c.irecvOf(as, buf, more, src, tag)
	if err != nil {
		return Status{}, err
	}
	return c.pml.awaitAlone(ctx, op)
}

// Started returns the request of a send that was complete when it was started.
func (c *Context) Started() Request { return requestOf(&c.pml.instant) }

// Finished returns the request of a receive that is complete from the start.
func (c *Context) Finished(st Status) Request {
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	return requestOf(c.finished(st))
}

func (c *Context) finished(st Status) *operation {
	op := c.pml.newOperation()
	op.context, op.status, op.done = c, st, true
	return op
}
