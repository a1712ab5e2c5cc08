package strand

import (
	"context"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// The calls below are those with the same names without View, for what a [Layout] picks of a slice. The memory is the
// library's as with those: all of it that the layout picks, and no more. Short runs of bytes are copied through
// pieces of 128 KB, of which a message has 1 MB at most at a time; long ones are not copied.

func (c *Comm) isendView(name string, v View, dst, tag int, mode pml.Mode) (Request, error) {
	switch err := v.sendable(name); {
	case err != nil:
		return Request{}, err
	case v.of == nil || c == nil || dst == ProcNull:
		return c.isend(v.memory, nil, dst, tag, mode)
	}
	r, err := c.p2p.IsendAs(v.of, v.memory, dst, tag, mode)
	return Request{r}, own(err)
}

func (c *Comm) sendView(ctx context.Context, name string, v View, dst, tag int, mode pml.Mode) error {
	given.Context(ctx)
	switch err := v.sendable(name); {
	case err != nil:
		return err
	case v.of == nil || c == nil || dst == ProcNull:
		return c.send(ctx, v.memory, nil, dst, tag, mode)
	}
	return own(c.p2p.SendAs(ctx, v.of, v.memory, dst, tag, mode))
}

// SendView is [Comm.Send] of a view.
func (c *Comm) SendView(ctx context.Context, v View, dst, tag int) error {
	return c.sendView(ctx, "SendView", v, dst, tag, pml.Standard)
}

// SsendView is [Comm.Ssend] of a view.
func (c *Comm) SsendView(ctx context.Context, v View, dst, tag int) error {
	return c.sendView(ctx, "SsendView", v, dst, tag, pml.Synchronous)
}

// BsendView is [Comm.Bsend] of a view: the copy is packed.
func (c *Comm) BsendView(ctx context.Context, v View, dst, tag int) error {
	return c.sendView(ctx, "BsendView", v, dst, tag, pml.Buffered)
}

// RsendView is [Comm.Rsend] of a view.
func (c *Comm) RsendView(ctx context.Context, v View, dst, tag int) error {
	return c.sendView(ctx, "RsendView", v, dst, tag, pml.Ready)
}

// IsendView is [Comm.Isend] of a view.
func (c *Comm) IsendView(v View, dst, tag int) (Request, error) {
	return c.isendView("IsendView", v, dst, tag, pml.Standard)
}

// IssendView is [Comm.Issend] of a view.
func (c *Comm) IssendView(v View, dst, tag int) (Request, error) {
	return c.isendView("IssendView", v, dst, tag, pml.Synchronous)
}

// IbsendView is [Comm.Ibsend] of a view.
func (c *Comm) IbsendView(v View, dst, tag int) (Request, error) {
	return c.isendView("IbsendView", v, dst, tag, pml.Buffered)
}

// IrsendView is [Comm.Irsend] of a view.
func (c *Comm) IrsendView(v View, dst, tag int) (Request, error) {
	return c.isendView("IrsendView", v, dst, tag, pml.Ready)
}

// RecvView is [Comm.Recv] into a view. The layout picks no value twice.
func (c *Comm) RecvView(ctx context.Context, v View, src, tag int) (Status, error) {
	given.Context(ctx)
	if err := v.receivable("RecvView"); err != nil {
		return Status{}, err
	}
	return c.recv(ctx, v.as(), v.memory, nil, src, tag)
}

// IrecvView is [Comm.Irecv] into a view. The layout picks no value twice.
func (c *Comm) IrecvView(v View, src, tag int) (Request, error) {
	if err := v.receivable("IrecvView"); err != nil {
		return Request{}, err
	}
	return c.irecv(v.as(), v.memory, nil, src, tag)
}

// SendrecvView is [Comm.Sendrecv] of a view, into another one. Nothing that one of them picks is picked by the other.
func (c *Comm) SendrecvView(ctx context.Context, out View, dst, sendTag int, in View, src, recvTag int) (Status, error) {
	given.Context(ctx)
	if err := pml.Ended(ctx); err != nil {
		return Status{}, err
	}
	if err := out.sendable("SendrecvView"); err != nil {
		return Status{}, err
	}
	if c == nil {
		return Status{}, ErrNilComm
	}
	if out.of == nil && in.receivable("SendrecvView") == nil {
		return c.sendrecv(ctx, out.memory, dst, sendTag, in.as(), in.memory, src, recvTag)
	}
	if err := c.refuses(dst, sendTag); err != nil {
		return Status{}, err
	}
	r, err := c.IrecvView(in, src, recvTag)
	if err != nil {
		return Status{}, err
	}
	return received(ctx, r, c.SendView(ctx, out, dst, sendTag))
}

func (c *Comm) persistentView(err error, start func(View, int, int) (Request, error), v View, peer, tag int) (*Persistent, error) {
	switch {
	case c == nil:
		return nil, ErrNilComm
	case err != nil:
		return nil, err
	}
	return &Persistent{begin: func() (Request, error) { return start(v, peer, tag) }}, nil
}

// SendInitView is [Comm.SendInit] of a view.
func (c *Comm) SendInitView(v View, dst, tag int) (*Persistent, error) {
	return c.persistentView(v.sendable("SendInitView"), c.IsendView, v, dst, tag)
}

// SsendInitView is [Comm.SsendInit] of a view.
func (c *Comm) SsendInitView(v View, dst, tag int) (*Persistent, error) {
	return c.persistentView(v.sendable("SsendInitView"), c.IssendView, v, dst, tag)
}

// BsendInitView is [Comm.BsendInit] of a view.
func (c *Comm) BsendInitView(v View, dst, tag int) (*Persistent, error) {
	return c.persistentView(v.sendable("BsendInitView"), c.IbsendView, v, dst, tag)
}

// RsendInitView is [Comm.RsendInit] of a view.
func (c *Comm) RsendInitView(v View, dst, tag int) (*Persistent, error) {
	return c.persistentView(v.sendable("RsendInitView"), c.IrsendView, v, dst, tag)
}

// RecvInitView is [Comm.RecvInit] into a view.
func (c *Comm) RecvInitView(v View, src, tag int) (*Persistent, error) {
	return c.persistentView(v.receivable("RecvInitView"), c.IrecvView, v, src, tag)
}

// RecvView is [Message.Recv] into a view.
func (m *Message) RecvView(ctx context.Context, v View) (Status, error) {
	given.Context(ctx)
	if err := v.receivable("RecvView"); err != nil {
		return Status{}, err
	}
	return m.recv(ctx, v.as(), v.memory, nil)
}

// IrecvView is [Message.Irecv] into a view.
func (m *Message) IrecvView(v View) (Request, error) {
	if err := v.receivable("IrecvView"); err != nil {
		return Request{}, err
	}
	return m.irecv(v.as(), v.memory, nil)
}
