package pml

import (
	"context"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/representation"
)

// A direct receive is that of a blocking call in its first moment. A short message has mostly come by then, and
// needs no operation, which would be made, posted, found and freed (BenchmarkCost in package strandtest shows what that takes).
// Nobody else can look meanwhile, since the lock is held. So there is one at most.
type direct struct {
	context *Context // nil: there is none
	from    *peer    // nil: any
	tag     int32    // or AnyTag
	needs   representation.Traits
	buf     []byte
	status  Status
	done    bool
}

var (
	_ engine.Condition = (*direct)(nil)
	_ btl.Sated        = (*rail)(nil)
)

// Done implements [engine.Condition]. A message that has come and waits for a receive, as it has another tag or is none of those that are taken
// in so, ends it too: nothing overtakes it here, and what has just come may be what is looked for.
func (d *direct) Done() bool { return d.done || d.context.match.Waiting() }

// Park implements [engine.Condition]: a wait that parks is for an operation.
func (d *direct) Park(*engine.Waiter) {}

// takes reports whether it is what a message of so many bytes is for.
func (d *direct) takes(c *Context, from *peer, tag int32, size int) bool {
	return d.context == c && (d.from == from || d.from == nil) && (d.tag == tag || d.tag == AnyTag) && !d.done && size <= len(d.buf) &&
		from.differs&d.needs == 0
}

// arrived takes the message in.
func (d *direct) arrived(from *peer, tag int32, data []byte) {
	d.done = true
	d.status = Status{Source: d.context.group.Rank(from.rank), Tag: int(tag), Count: copy(d.buf, data)}
}

// An outcome is what somebody waits for. To look at it changes nothing.
type outcome interface{ isOver() bool }

// Sated implements [btl.Sated]: the next receive takes what comes next, which would wait in lists otherwise. If several
// goroutines wait it may be about another one's, or one that is used again: that is as good for all but what it costs.
func (r *rail) Sated() bool {
	p := r.pml
	return p.direct.done || p.awaited != nil && p.awaited.isOver()
}

// comesWhole reports whether a message of n bytes comes in one piece, so that a receive that is posted later costs no copy more.
func (pe *peer) comesWhole(n int) bool {
	return n <= copyFirst || n <= btl.MostKept && len(pe.rails) > 0 && pe.rails[0].keeps(n)
}

// recvShort receives a message that comes whole and has come, or comes in a moment, and reports true. Otherwise nothing was received. The lock is held.
func (c *Context) recvShort(buf []byte, needs representation.Traits, src, tag int) (Status, bool) {
	p := c.pml
	if !c.isOpen() || p.trace != nil || c.match.Waiting() || tag < AnyTag || tag > MaxTag {
		return Status{}, false
	}
	from, source := c.directSource(src, len(buf), needs)
	if source == nil {
		return Status{}, false
	}
	d := &p.direct
	d.context, d.from, d.tag, d.needs, d.buf = c, from, int32(tag), needs, buf
	done := p.engine.Briefly(d, source) && d.done
	st := d.status
	*d = direct{}
	return st, done
}

// directSource is who a direct receive is from, if that is one peer, and where that, or whoever it will be, is expected. It is nil where there can be none.
func (c *Context) directSource(src, size int, needs representation.Traits) (*peer, btl.Poller) {
	if src == AnySource {
		if size > copyFirst || c.unacknowledged != nil || c.group.size == 2 && !c.sought {
			return nil, nil
		}
		return nil, c.pml.recent
	}
	if uint(src) >= uint(c.group.size) {
		return nil, nil
	}
	pe := c.pml.met(c.group.World(src))
	if pe == nil || pe.failure != nil || pe.differs&needs != 0 || !pe.comesWhole(size) {
		return nil, nil
	}
	return pe, pe.poller
}

// SendrecvShort sends and then receives, if both messages are of the common kind and the send is complete at once, so that the receive need not be there
// before. Then it is [Context.Recv] in all else. It reports false if it has done nothing.
func (c *Context) SendrecvShort(ctx context.Context, out []byte, dst, sendTag int, as As, in []byte, src, recvTag int) (st Status, done bool, err error) {
	if err := Ended(ctx); err != nil {
		return Status{}, true, err
	}
	c.pml.engine.Lock()
	if c.isCommon(src, recvTag) && c.sendShort(out, dst, sendTag) {
		done = true
		st, err = c.await(ctx, as, in, nil, src, recvTag)
	}
	c.pml.engine.Unlock()
	return st, done, err
}
