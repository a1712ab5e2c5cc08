package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// makeRing adds a communicator for exchanges alone. Their receives, which block, get what is sent
// for them: no other receive is posted there.
func (g *generator) makeRing() {
	all := g.live[0]
	s := &step{kind: stepDup, comm: all.id, made: make([]int, g.shape.ranks), relaxed: all.relaxed}
	g.ring = g.joinAll(all.members, s)
	g.live = g.live[:1]
	g.add(s)
}

// exchanges adds some in which each rank passes a message on to another one, or to itself: round in a ring, or
// from one end to the other.
func (g *generator) exchanges() {
	c := g.ring
	if c == nil {
		return
	}
	for range 1 + g.IntN(3) {
		order, size := g.Perm(len(c.members)), g.size()
		if size*len(order) > g.bytes {
			size = g.IntN(10)
		}
		g.bytes -= size * len(order)
		s := &step{kind: stepExchange, comm: c.id, form: pick(g.Rand, whole, scattered)}
		for i, from := range order {
			var m *message
			if i < len(order)-1 || g.IntN(4) > 0 {
				m = g.tagged(c, c.members[from], c.members[order[(i+1)%len(order)]], pick(g.Rand, size, size, size/2), g.tag())
			}
			s.letters = append(s.letters, m)
		}
		g.add(s)
	}
}

// An exchanging is what a rank does in an exchange: it passes on the message out, and receives in. Either may be nil.
type exchanging struct {
	out, in *message
	buffer  *buffer
	before  []byte // the buffer's content
	dst     int
	sendTag int
	from    pattern
	src     int
}

func (r *rank) exchange(s *step) error {
	x := r.exchanging(s)
	if err := r.exchangeNever(s, x); err != nil {
		return err
	}
	var rec *reception
	if x.in != nil {
		rec = r.note(posted, s.comm, x.from, x.buffer.size)
	}
	st, err := x.replace(r.ctx, r.comms[s.comm])
	r.tally.Exchanges++
	if x.in == nil {
		if null := (strand.Status{Source: strand.ProcNull, Tag: strand.AnyTag}); st != null || err != nil {
			return fmt.Errorf("a message from nobody was received with %+v and the error %s", st, fmt.Sprint(err))
		}
		return r.isAsBefore(x)
	}
	if err := r.outcome(rec, st, err); err != nil {
		return err
	}
	return r.replaced(rec, x)
}

// exchanging finds this rank's part.
func (r *rank) exchanging(s *step) *exchanging {
	x := &exchanging{dst: strand.ProcNull, src: strand.ProcNull}
	for _, m := range s.letters {
		if m != nil && m.from == r.me {
			x.out, x.dst, x.sendTag = m, r.program.comms[s.comm].rank(m.to), m.tag
		}
		if m != nil && m.to == r.me {
			x.in, x.from, x.src = m, pattern{m.from, m.tag}, r.program.comms[s.comm].rank(m.from)
		}
	}
	if !r.program.comms[s.comm].relaxed && r.random.IntN(3) == 0 {
		x.from.tag = strand.AnyTag // what its sender has sent before has come before
	}
	size := 0
	if x.out != nil {
		size = x.out.size
	} else if x.in != nil {
		size = r.random.IntN(x.in.size + 2)
	}
	if x.buffer = r.buffer(size, s.form); x.out != nil {
		x.buffer.fill(x.out, r.program.seed)
	}
	x.before = bytes.Clone(x.buffer.content(size))
	return x
}

func (x *exchanging) replace(ctx context.Context, c *strand.Comm) (strand.Status, error) {
	if x.buffer.form == scattered {
		return c.SendrecvReplaceView(ctx, x.buffer.view, x.dst, x.sendTag, x.src, x.from.tag)
	}
	return c.SendrecvReplace(ctx, x.buffer.memory, x.dst, x.sendTag, x.src, x.from.tag)
}

// exchangeNever makes the call with a context that has ended, at times: nothing comes of that.
func (r *rank) exchangeNever(s *step, x *exchanging) error {
	if r.random.IntN(4) > 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	_, err := x.replace(ctx, r.comms[s.comm])
	if !errors.Is(err, context.Canceled) || errors.Is(err, strand.ErrUnderway) {
		return fmt.Errorf("an exchange whose context had ended before: it has ended with %s", fmt.Sprint(err))
	}
	return r.isUnchanged(x)
}

func (r *rank) isUnchanged(x *exchanging) error {
	if !bytes.Equal(x.buffer.content(x.buffer.size), x.before) {
		return errors.New("an exchange in which nothing was received has changed its buffer")
	}
	return r.isWithin(x)
}

// isWithin looks for what was written beside the message.
func (r *rank) isWithin(x *exchanging) error {
	if i := x.buffer.untouched(x.buffer.size); i >= 0 {
		return fmt.Errorf("an exchange has written to byte %d, which is no part of its message", i)
	}
	return nil
}

// isAsBefore ends an exchange in which nothing was received.
func (r *rank) isAsBefore(x *exchanging) error {
	err := r.isUnchanged(x)
	x.buffer.spoil()
	return err
}

// replaced compares what has come in, and what is left of what was sent.
func (r *rank) replaced(rec *reception, x *exchanging) error {
	n, content := min(x.in.size, x.buffer.size), x.buffer.content(x.buffer.size)
	if i := x.in.differs(content[:n], r.program.seed); i >= 0 || rec.size != x.in.size {
		return fmt.Errorf("%v: differs from %v from byte %d of %d on", rec, x.in, i, n)
	}
	if !bytes.Equal(content[n:], x.before[n:]) {
		return fmt.Errorf("%v: what stands behind it in its buffer has changed", rec)
	}
	if err := r.isWithin(x); err != nil {
		return err
	}
	x.buffer.spoil()
	return r.obtain(rec, x.in)
}
