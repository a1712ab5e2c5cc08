package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// The common case has a path of its own in both directions: a short message that nothing
// delays, and that a receive waits for. It does what the general path does (launch,
// sendEager, begin, end), with a quarter of its code. After each system call the
// processor's caches are cold, and every line counts.

// isCommon reports whether a call is of the common kind, by what it names and by the state of the context.
func (c *Context) isCommon(rank, tag int) bool {
	return uint(rank) < uint(c.group.size) && tag >= 0 && tag <= MaxTag && c.isOpen()
}

// isOpen is startable for who does not ask why not.
func (c *Context) isOpen() bool { return !c.pml.closing && !c.freed && c.revoked == nil }

// sendShort sends a message of up to copyFirst bytes, or of as many as the rail keeps, and reports true if nothing
// stands in the way; it is complete then. The lock is held.
func (c *Context) sendShort(buf []byte, dst, tag int) bool {
	p := c.pml
	if len(buf) > btl.MostKept || !c.isCommon(dst, tag) || c.urgent {
		return false
	}
	ch := c.known(c.group.World(dst))
	if ch == nil {
		return false
	}
	pe := ch.peer
	if pe.local || pe.ways.Stage != rails.Known || pe.waiting.head != nil || pe.backlog.Len() > 0 ||
		len(buf) > p.tune.copyLimit || p.copied >= p.tune.copyPool || pe.stretched() {
		return false
	}
	lane := ch.lane(int32(tag))
	r := pe.railOf(int(lane))
	if r == nil || r.busy || len(buf) > min(copyFirst, r.attr.EagerLimit, r.attr.MaxFrame) && !r.keepsLong(len(buf)) || len(pe.networks) > 1 && len(buf) > pe.eagerLimit(r) || !pe.credit.Spend(credit.Price(len(buf))) {
		return false
	}
	f := p.newFrame(pe)
	f.lane = int(lane)
	f.Header = wire.PutPlain(f.header[:], lane, pe.sent.Add(&f.Frame), c.id, int32(tag), ch.seq, pe.laneSeq[lane])
	ch.seq++
	pe.laneSeq[lane]++
	kept := r.keeps(len(buf))
	if kept {
		f.Size, f.Payload = len(buf), buf
	} else {
		f.keepShort(buf)
	}
	if p.trace != nil {
		c.traceShort(pe, f, r, int32(tag), ch.seq-1)
	}
	pe.begins(f, r, uint64(len(buf)))
	switch {
	case len(pe.networks) > 0:
		pe.emit(f)
	case !r.transmit(f):
		if kept {
			f.keepShort(buf)
		}
		pe.backlog.Push(&f.Frame)
	case kept:
		f.isKept(r, buf)
	}
	p.catchUp()
	pe.lookAfter(lookAfterShort)
	return true
}

// keepShort makes a copy of buf the payload, in the frame itself if it fits.
func (f *txFrame) keepShort(buf []byte) {
	f.Size = len(buf)
	if f.Size > frameRoom {
		f.reserve()
		f.Payload = f.copy
	} else {
		f.short, f.Payload = true, f.room[:f.Size]
		f.peer.pml.copied += frameRoom
	}
	copy(f.Payload, buf)
}

// postShort posts a receive of one piece if no message waits, and nothing is in the way. Otherwise it returns nil, and nothing has changed. The lock is held.
func (c *Context) postShort(buf []byte, needs representation.Traits, src, tag int) *operation {
	p := c.pml
	if !c.isCommon(src, tag) || p.trace != nil || c.match.Waiting() {
		return nil
	}
	world := c.group.World(src)
	if pe := p.met(world); pe == nil || pe.ways.Stage != rails.Known || pe.failure != nil {
		return nil
	}
	op := p.newOperation()
	op.context, op.needs, op.buf.First, op.size = c, needs, buf, uint64(len(buf))
	op.recv.Source, op.recv.Tag = int32(world), int32(tag)
	c.match.Post(&op.recv)
	return op
}

// deliverExpected takes in a short or eager message that is next in every way
// and that a receive, or a caller, waits for, and reports true; otherwise nothing has changed but what is acknowledged.
func (r *rail) deliverExpected(b, data []byte) bool {
	h, plain := wire.Plain(b)
	if !plain {
		return false
	}
	pe := r.peer
	lane, units := int(h.Lane()), credit.Price(len(data))
	if lane >= len(pe.lanes) || pe.lanes[lane] == nil || pe.grant.Left() < units {
		return false
	}
	c, id := r.pml.lastContext, h.Context()
	if c == nil || c.id != id {
		if c = r.pml.known(id); c == nil {
			return false
		}
	}
	ch, d := c.match.Channel(int32(pe.rank)), &r.pml.direct
	// What it acknowledges comes first: frames that have come for a receive that was given back may count from then on.
	if ch == nil || pe.acknowledgedWhile(d.context != nil, h.Ack(), h.Credit()) != nil || !pe.received.Expects(h.Frame()) {
		return false
	}
	var op *operation
	if !d.takes(c, pe, h.Tag(), len(data)) || !ch.Pass(pe.lanes[lane], h.Seq(), h.LaneSeq(), h.Tag()) {
		posted := ch.Expect(pe.lanes[lane], h.Seq(), h.LaneSeq(), h.Tag())
		if posted == nil {
			return false
		}
		op = posted.Owner.(*operation)
	}
	r.pml.recent = r.poller
	r.hear()
	r.traffic.Received++
	r.traffic.BytesReceived += uint64(len(data))
	soon, awaited := pe.received.ArrivedNext(), h.Flags()&wire.FlagAckNow != 0
	pe.grant.Take(units)
	if pe.grant.Refund(units) || soon {
		pe.acknowledgeSoon()
	}
	if op == nil {
		d.arrived(pe, h.Tag(), data)
	} else {
		op.peer, op.total = pe, uint64(len(data))
		op.describe(c.group.Rank(pe.rank), h.Tag())
		op.refuseUnlike(pe)
		if r.pml.trace != nil {
			op.traceMatched(pe, h.Tag(), h.Seq())
		}
		op.buf.TakeIn(data)
		op.received()
	}
	if awaited {
		pe.confirm(pe.received.Awaited())
	}
	return true
}

// received is complete for a receive whose message came whole, as soon as it had matched.
func (op *operation) received() {
	if op.err != nil || op.waiter != nil || len(op.sets) > 0 || op.then != nil || op.orphan || op.pml.trace != nil {
		op.complete(nil)
		return
	}
	op.done, op.buf = true, payload.Memory{}
}
