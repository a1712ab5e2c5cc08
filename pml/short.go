package pml

import (
	"encoding/binary"

	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/rails"
)

// The common case has a path of its own in both directions: a short message that
// nothing stands in the way of, and that a receive waits for. It does what the
// general path does (launch, sendEager, begin, end), with a quarter of its code:
// after each system call the processor's caches are cold, and every line counts.

// shortLimit is the longest message of this path: its copy for replay fits into
// the frame itself.
const shortLimit = 128

// sendShort sends the message and reports true if nothing stands in the way; it
// is complete then. The lock is held.
func (c *Context) sendShort(buf []byte, dst, tag int) bool {
	p := c.pml
	ch := c.last
	if ch == nil || len(buf) > shortLimit || uint(dst) >= uint(c.group.size) || ch.peer.rank != c.group.World(dst) ||
		tag < 0 || tag > MaxTag || p.closing || c.freed {
		return false
	}
	pe := ch.peer
	if pe.local || pe.ways.Stage != rails.Known || pe.waiting.head != nil || pe.backlog.head != nil ||
		len(buf) > p.tune.copyLimit || p.copied >= p.tune.copyPool || pe.stretched() {
		return false
	}
	lane := c.lane(int32(tag))
	r := pe.railOf(int(lane))
	if r == nil || r.busy || len(buf) > r.attr.EagerLimit || !pe.credit.Spend(credit.Price(len(buf))) {
		return false
	}
	f := p.newFrame(pe)
	f.short = true
	p.copied += shortLimit
	f.lane, f.counted = int(lane), true
	le := binary.LittleEndian
	b := f.header[:eagerSize]
	b[0], b[1] = byte(frameEager), flagCounted
	le.PutUint16(b[2:], lane)
	le.PutUint32(b[4:], pe.sent.add(f))
	le.PutUint64(b[16:], c.id)
	le.PutUint32(b[24:], uint32(tag))
	le.PutUint32(b[28:], ch.seq)
	le.PutUint32(b[32:], pe.laneSeq[lane])
	ch.seq++
	pe.laneSeq[lane]++
	f.Header = b
	f.Payload = f.room[:copy(f.room[:], buf)]
	f.Size = len(buf)
	r.traffic.Sent++
	r.traffic.BytesSent += uint64(len(buf))
	pe.emit(f)
	return true
}

// deliverExpected takes in a short or eager message that is next in every way
// and that a receive waits for, and reports true; otherwise nothing has changed.
func (r *rail) deliverExpected(b, payload []byte) bool {
	if len(b) != eagerSize || frameType(b[0]) != frameEager || b[1]&^flagAckNow != flagCounted {
		return false
	}
	le := binary.LittleEndian
	pe := r.peer
	lane, units := int(le.Uint16(b[2:])), credit.Price(len(payload))
	if le.Uint32(b[4:]) != pe.received.next || len(pe.received.beyond) != 0 ||
		lane >= len(pe.lanes) || pe.lanes[lane] == nil || pe.grant.Left() < units {
		return false
	}
	c, id := r.pml.lastContext, le.Uint64(b[16:])
	if c == nil || c.id != id {
		if c = r.pml.known(id); c == nil {
			return false
		}
	}
	ch := c.match.Channel(int32(pe.rank))
	tag := int32(le.Uint32(b[24:]))
	if ch == nil || tag < 0 || pe.acknowledgedUpTo(le.Uint32(b[8:]), le.Uint32(b[12:])) != nil {
		return false
	}
	posted := ch.Expect(pe.lanes[lane], le.Uint32(b[28:]), le.Uint32(b[32:]), tag)
	if posted == nil {
		return false
	}
	r.pml.recent = r.poller
	r.hear()
	r.traffic.Received++
	r.traffic.BytesReceived += uint64(len(payload))
	pe.received.next++
	pe.unacked++
	pe.grant.Take(units)
	if pe.grant.Refund(units) || b[1]&flagAckNow != 0 || pe.unacked >= ackEvery {
		pe.acknowledgeSoon()
	}
	op := posted.Owner.(*operation)
	op.peer, op.total = pe, uint64(len(payload))
	op.describe(c.group.Rank(pe.rank), tag)
	op.scatter(payload)
	op.complete(nil)
	return true
}
