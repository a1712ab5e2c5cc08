package programs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A brief context ends before the call that it is given to, or within some microseconds of
// the first look that the call takes at it.
type brief struct {
	context.Context
	cancel func()
	over   bool // from the start
	lasts  time.Duration
	once   sync.Once
}

func (r *rank) brief() *brief {
	ctx, cancel := context.WithCancel(r.ctx)
	b := &brief{Context: ctx, cancel: cancel, over: r.random.IntN(3) == 0, lasts: time.Duration(r.random.IntN(6)*r.random.IntN(40)) * time.Microsecond}
	if b.over {
		cancel()
	}
	return b
}

// Err implements [context.Context]. The time begins to run at the first look. So a call that
// looks at its context first has begun before the end.
func (b *brief) Err() error {
	err := b.Context.Err()
	b.once.Do(func() { time.AfterFunc(b.lasts, b.cancel) })
	return err
}

// ended reports whether a call has ended because its context has, and not for any other reason.
// It is an error if a call whose context had ended before it did not end so.
func (b *brief) ended(call string, err error) (bool, error) {
	ended := errors.Is(err, context.Canceled)
	if b.over && !ended {
		return false, fmt.Errorf("%s whose context had ended before: it has ended with %s", call, fmt.Sprint(err))
	}
	return ended, nil
}

// briefly makes a call that may wait, and whose context ends. If the call ends with it,
// nothing is lost: what it waited for comes to a later one.
func (r *rank) briefly(s *step) error {
	switch r.random.IntN(5) {
	case 0:
		return r.probeBriefly(s)
	case 1:
		return r.takeBriefly(s)
	case 2:
		if len(r.held) > 0 {
			return r.freeCaptiveBriefly()
		}
	}
	return r.receiveBriefly(s)
}

func (r *rank) receiveBriefly(s *step) error {
	rec, b := r.begin(posted, s.comm, s.pattern, s.room, s.form)
	ctx := r.brief()
	defer ctx.cancel()
	st, err := b.recv(ctx, r.comms[s.comm], r.source(s.comm, s.pattern), s.pattern.tag)
	ended, wrong := ctx.ended(rec.String(), err)
	if wrong != nil {
		return wrong
	}
	if !ended {
		return r.received(rec, b, st, err)
	}
	rec.cancelled, rec.gone = rec.posted, r.history.tick()
	b.spoil()
	r.tally.Left++
	return nil
}

func (r *rank) probeBriefly(s *step) error {
	rec := &reception{way: seen, comm: s.comm, phase: r.phase, pattern: s.pattern, posted: r.history.tick()}
	ctx := r.brief()
	defer ctx.cancel()
	st, err := r.comms[s.comm].Probe(ctx, r.source(s.comm, s.pattern), s.pattern.tag)
	if ended, wrong := ctx.ended(rec.String(), err); ended || wrong != nil {
		return wrong
	}
	if err != nil {
		return err
	}
	return r.noteSeen(rec, st)
}

func (r *rank) takeBriefly(s *step) error {
	rec := r.capturing(s.comm, s.pattern, s.room, nil)
	ctx := r.brief()
	defer ctx.cancel()
	m, err := r.comms[s.comm].Mprobe(ctx, r.source(s.comm, s.pattern), s.pattern.tag)
	if ended, wrong := ctx.ended(rec.String(), err); ended || wrong != nil {
		return wrong
	}
	if err != nil {
		return err
	}
	return r.noteTaken(rec, m, s)
}

// freeCaptiveBriefly receives a message that a matched probe has taken, which stays one that
// was taken if it has not all come when the context ends.
func (r *rank) freeCaptiveBriefly() error {
	c := r.held[len(r.held)-1]
	ctx := r.brief()
	defer ctx.cancel()
	b := r.buffer(c.step.room, c.step.form)
	st, err := b.take(ctx, c.message)
	ended, wrong := ctx.ended(c.reception.String(), err)
	if wrong != nil {
		return wrong
	}
	if ended {
		b.spoil()
		r.tally.Left++
		return nil
	}
	r.held = r.held[:len(r.held)-1]
	return r.received(c.reception, b, st, err)
}

// sendBriefly is a send that blocks, with a context that ends. If that had ended before,
// nothing was sent; if it ends later, the message is on its way, and its buffer the
// library's until the end. It reports whether the send is done with.
func (r *rank) sendBriefly(s *step, b *buffer, send func(context.Context) error) (bool, error) {
	ctx := r.brief()
	defer ctx.cancel()
	err := send(ctx)
	ended, wrong := ctx.ended(s.String(), err)
	switch {
	case wrong != nil:
		return true, wrong
	case ended && ctx.over:
		return false, nil
	case ended:
		b.lent = true
		r.tally.Left++
		return true, nil
	case err != nil:
		return true, err
	}
	return true, r.sent(s, b)
}
