package programs

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// letter makes the buffer of a message to be sent.
func (r *rank) letter(s *step) *buffer {
	b := r.buffer(s.message.size, s.form)
	b.fill(s.message, r.program.seed)
	return b
}

// returned takes the buffer of a send back.
func (r *rank) returned(m *message, b *buffer) error {
	if i := m.differs(b.content(m.size), r.program.seed); i >= 0 {
		return fmt.Errorf("%v: byte %d of its send buffer was changed", m, i)
	}
	if i := b.untouched(m.size); i >= 0 {
		return fmt.Errorf("%v: byte %d of memory that is no part of it was changed", m, i)
	}
	b.spoil()
	return nil
}

func (r *rank) send(s *step) error {
	if s.series > 0 {
		if done, err := r.sendAgain(s); done || err != nil {
			return err
		}
	}
	b := r.letter(s)
	c, to := r.comms[s.comm], r.program.comms[s.comm].rank(s.message.to)
	handle, err := isend(c, b, to, s.message.tag, s.mode)
	if errors.Is(err, strand.ErrBuffer) && s.mode == modeBuffered {
		r.tally.NoBuffer++
		handle, err = isend(c, b, to, s.message.tag, modeStandard)
	}
	if err != nil {
		return err
	}
	r.requests = append(r.requests, &request{handle: handle, buffer: b, message: s.message, mode: s.mode})
	return nil
}

func isend(c *strand.Comm, b *buffer, to, tag int, how mode) (strand.Request, error) {
	if b.form == scattered {
		return isendView(c, b.view, to, tag, how)
	}
	switch {
	case how == modeSynchronous:
		return c.Issend(b.memory, to, tag)
	case how == modeBuffered:
		return c.Ibsend(b.memory, to, tag)
	case how == modeReady:
		return c.Irsend(b.memory, to, tag)
	case b.pieces != nil:
		return c.IsendV(b.pieces, to, tag)
	}
	return c.Isend(b.memory, to, tag)
}

func isendView(c *strand.Comm, v strand.View, to, tag int, how mode) (strand.Request, error) {
	switch how {
	case modeSynchronous:
		return c.IssendView(v, to, tag)
	case modeBuffered:
		return c.IbsendView(v, to, tag)
	case modeReady:
		return c.IrsendView(v, to, tag)
	}
	return c.IsendView(v, to, tag)
}

// transfer is a send that blocks, and what its receiver does about it.
func (r *rank) transfer(s *step) error {
	m := s.message
	ready := s.mode == modeReady
	if ready && r.me == m.to {
		if err := r.receive(s.comm, pattern{m.from, m.tag}, s.room, s.form, nil); err != nil {
			return err
		}
	}
	if ready {
		if err := r.comms[s.comm].Barrier(r.ctx); err != nil {
			return err
		}
	}
	switch r.me {
	case m.from:
		return r.sendBlocking(s)
	case m.to:
		return r.receiveUntil(s)
	}
	return nil
}

func (r *rank) sendBlocking(s *step) error {
	b := r.letter(s)
	if r.polls {
		return r.sendPolling(s, b)
	}
	if s.mode != modeBuffered && r.random.IntN(6) == 0 { // that one may be two calls
		done, err := r.sendBriefly(s, b, func(ctx context.Context) error { return r.sendNow(ctx, s, b) })
		if done || err != nil {
			return err
		}
	}
	if err := r.sendNow(r.ctx, s, b); err != nil {
		return err
	}
	return r.sent(s, b)
}

func (r *rank) sendNow(ctx context.Context, s *step, b *buffer) error {
	c, to, tag := r.comms[s.comm], r.program.comms[s.comm].rank(s.message.to), s.message.tag
	err := send(ctx, c, b, to, tag, s.mode)
	if s.mode != modeBuffered || !errors.Is(err, strand.ErrBuffer) {
		return err
	}
	r.tally.NoBuffer++
	return send(ctx, c, b, to, tag, modeStandard)
}

func send(ctx context.Context, c *strand.Comm, b *buffer, to, tag int, how mode) error {
	if b.form == scattered {
		return sendView(ctx, c, b.view, to, tag, how)
	}
	switch {
	case how == modeSynchronous:
		return c.Ssend(ctx, b.memory, to, tag)
	case how == modeReady:
		return c.Rsend(ctx, b.memory, to, tag)
	case how == modeBuffered:
		return c.Bsend(ctx, b.memory, to, tag)
	case b.pieces != nil:
		return c.SendV(ctx, b.pieces, to, tag)
	}
	return c.Send(ctx, b.memory, to, tag)
}

func sendView(ctx context.Context, c *strand.Comm, v strand.View, to, tag int, how mode) error {
	switch how {
	case modeSynchronous:
		return c.SsendView(ctx, v, to, tag)
	case modeReady:
		return c.RsendView(ctx, v, to, tag)
	case modeBuffered:
		return c.BsendView(ctx, v, to, tag)
	}
	return c.SendView(ctx, v, to, tag)
}

// sent takes note that a send has returned with nil.
func (r *rank) sent(s *step, b *buffer) error {
	if s.mode == modeSynchronous {
		r.ledger.synced[s.message.id].Store(r.ledger.clock.Add(1))
	}
	return r.returned(s.message, b)
}

// sendPolling starts the send and tests until it is complete.
func (r *rank) sendPolling(s *step, b *buffer) error {
	c, to := r.comms[s.comm], r.program.comms[s.comm].rank(s.message.to)
	handle, err := isend(c, b, to, s.message.tag, s.mode)
	if errors.Is(err, strand.ErrBuffer) && s.mode == modeBuffered {
		r.tally.NoBuffer++
		handle, err = isend(c, b, to, s.message.tag, modeStandard)
	}
	if err != nil {
		return err
	}
	if _, err := r.wait(handle); err != nil {
		return err
	}
	return r.sent(s, b)
}
