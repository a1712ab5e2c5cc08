package pml

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// maxBacklog is how many frames may wait for a rail; further sends wait in their
// callers' buffers.
const maxBacklog = 128

// Refuses returns why a send would be refused, or nil.
func (c *Context) Refuses(dst, tag int) error {
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	_, err := c.sendable(dst, tag)
	return err
}

// sendable returns the channel for a send, or why there is none.
func (c *Context) sendable(dst, tag int) (*channel, error) {
	if err := c.startable(); err != nil {
		return nil, err
	}
	if err := c.group.check(dst); err != nil {
		return nil, fmt.Errorf("send: destination %w", err)
	}
	if err := SendTag(tag); err != nil {
		return nil, err
	}
	ch := c.channelTo(c.group.World(dst))
	if ch.peer.failure != nil {
		return nil, c.named(ch.peer.failure)
	}
	return ch, ch.peer.crowded(dst)
}

// isend starts a send and returns its operation, or nil if it has completed. The
// lock is held.
func (c *Context) isend(buf []byte, more [][]byte, dst, tag int, mode Mode) (*operation, error) {
	return c.isendOf(buf, more, nil, dst, tag, mode)
}

// isendOf is isend of what a layout picks of buf, unless that is nil.
func (c *Context) isendOf(buf []byte, more [][]byte, as *layout.Layout, dst, tag int, mode Mode) (*operation, error) {
	p := c.pml
	p.catchUp() // there may be room by that
	ch, err := c.sendable(dst, tag)
	if errors.Is(err, ErrSends) || err == nil && mode == Buffered && p.buffered > p.tune.bufferedMax/2 {
		p.engine.Glance(ch.peer.poller) // or by that, where the program only sends
		ch, err = c.sendable(dst, tag)
	}
	if err != nil {
		return nil, err
	}
	pe := ch.peer
	op := p.newOperation()
	op.isSend, op.context, op.peer, op.mode = true, c, pe, mode
	op.tag = int32(tag)
	op.take(buf, more, as)
	if mode == Buffered {
		if err := p.holdBuffered(op); err != nil {
			p.freeOperation(op)
			return nil, err
		}
	}
	op.lane = ch.lane(op.tag)
	op.seq, op.laneSeq = ch.seq, pe.laneSeq[op.lane]
	ch.seq++
	pe.laneSeq[op.lane]++
	pe.sends++
	if p.trace != nil {
		op.tracePosted()
	}
	switch {
	case c.urgent:
		pe.hurry(op)
	case pe.waiting.head == nil && pe.up() && pe.backlog.Len() < maxBacklog && !pe.restrain():
		pe.launch(op)
	default:
		op.setBusy(true)
		pe.waiting.push(op)
		pe.connect()
	}
	if mode == Buffered {
		return nil, nil // it frees itself
	}
	if op.done && op.err == nil {
		p.freeOperation(op)
		return nil, nil
	}
	return op, nil
}

// launch chooses the protocol for a send and makes its first frame.
func (pe *peer) launch(op *operation) {
	r := pe.railOf(pe.pml.onWay(op.lane))
	starved := false
	if op.mode != Synchronous && (op.size <= uint64(pe.eagerLimit(r)) || !op.packs && pe.presumed(op, r)) {
		if op.spend(int(op.size)) {
			pe.sendEager(op, r)
			return
		}
		starved = true
		pe.pml.stats.Demoted++
	}
	first := pe.firstPiece(op.size, r)
	if !op.packs && len(pe.rails) == 1 && r.isSlow() {
		first = min(op.size, uint64(r.unasked(pe.pml.tune.eagerAwaited)))
	}
	if starved || first > 0 && !op.spend(int(first)) {
		first, starved = 0, true
	}
	pe.sendRequest(op, r, first, starved)
}

// eagerLimit is the longest message sent at once, over any network.
func (pe *peer) eagerLimit(r *rail) int {
	most := pe.pml.tune.eagerMax
	limit := r.eagerLimit(most)
	if len(pe.networks) > 1 {
		for _, net := range pe.networks {
			limit = min(limit, net[0].eagerLimit(most))
		}
	}
	return limit
}

// firstPiece is how much data goes with a request to send, over any network.
func (pe *peer) firstPiece(size uint64, r *rail) uint64 {
	first := r.firstPiece(size)
	if len(pe.networks) > 1 {
		for _, net := range pe.networks {
			first = min(first, net[0].firstPiece(size))
		}
	}
	return first
}

// eagerLimit is the longest message sent at once over the rail.
func (r *rail) eagerLimit(most int) int {
	limit := r.attr.EagerLimit
	if r.attr.Reliable && r.attr.Ordered && !r.attr.Confirms && !r.attr.EagerFixed {
		limit = max(limit, most)
	}
	return min(limit, r.attr.MaxFrame)
}

// bareRequest is the length from which on a request to send carries no data. A first piece
// would save a small part of the time. It costs as much again when it comes before its
// receive and has to be copied.
const bareRequest = 512 << 10

// firstPiece is how much data goes with a request to send. Where release means
// delivery nothing does, unless it is short: the data waits in the sender's buffer, uncopied.
func (r *rail) firstPiece(size uint64) uint64 {
	if r.attr.Confirms && size > copyFirst || size >= bareRequest {
		return 0
	}
	return min(size, uint64(r.attr.EagerLimit), uint64(r.attr.MaxFrame))
}

func (op *operation) messageHeader(kind wire.Kind) wire.Header {
	return wire.Header{Kind: kind, Lane: op.lane, Context: op.context.id, Tag: op.tag, Seq: op.seq, LaneSeq: op.laneSeq}
}

// sendEager sends the whole message. If there is room to keep a copy the send is
// complete when that is made, else when its frame is acknowledged. A long message over shared
// memory is not copied a second time.
func (pe *peer) sendEager(op *operation, r *rail) {
	p := pe.pml
	f := p.newFrame(pe)
	h := op.messageHeader(wire.Eager)
	pe.begins(f, r, op.size)
	if p.trace != nil {
		pe.traceBegins(f, r, h.Context, h.Seq)
	}
	op.offset = op.size
	keep, waits := pe.keeps(op, r), r.busy || pe.backlog.Len() > 0
	if keep && (op.packs || r.holdsLong() || op.size <= copyFirst && (waits || op.size == 0 || !r.awaits())) {
		f.keep(op)
		f.build(&h)
		pe.emitEager(r, f)
		op.complete(nil)
		return
	}
	f.refer(op, 0, op.size)
	if keep {
		f.reserve()
	} else {
		h.Flags |= wire.FlagAckNow
	}
	f.build(&h)
	op.setBusy(true)
	pe.emitEager(r, f)
}

// emitEager sends the frame of a message that is sent at once: over all networks if it is long.
func (pe *peer) emitEager(r *rail, f *txFrame) {
	if f.Size > pieceless && len(pe.networks) > 1 && f.lane < btl.UrgentLane {
		pe.shareOut(f)
		return
	}
	pe.emitOver(r, f)
}

// sendRequest asks to send, with a first piece of the data.
func (pe *peer) sendRequest(op *operation, r *rail, first uint64, starved bool) {
	f := pe.pml.newFrame(pe)
	h := op.messageHeader(wire.Request)
	h.Size, h.Handle = op.size, op.handle()
	if starved {
		h.Flags |= wire.FlagStarved
		if r.isSlow() {
			h.Flags |= wire.FlagFar
		}
	}
	if first == op.size && first > 0 {
		h.Flags |= wire.FlagAckNow // no data frame will follow that says so
	}
	pe.begins(f, r, op.size)
	if pe.pml.trace != nil {
		pe.traceBegins(f, r, h.Context, h.Seq)
	}
	op.asked, op.offset = true, first
	op.setBusy(true)
	f.refer(op, 0, first)
	f.build(&h)
	pe.emitOver(r, f)
}

// emitOver sends the first frame of a message that was made for a rail: in parts if the rail takes none so long.
func (pe *peer) emitOver(r *rail, f *txFrame) {
	if r.takes(f) {
		pe.emit(f)
		return
	}
	pe.sendInParts(f, r.attr.MaxFrame)
}

// emit sends a control frame, or the first frame of a message, over the network that is
// to have it. If none is the frame waits. One that waits does not block those that go over
// another network, or over a parallel rail.
func (pe *peer) emit(f *txFrame) {
	if f.lane == btl.UrgentLane {
		if pe.express.frames.Len() > 0 || !pe.transmitUrgent(f) {
			pe.express.frames.Push(&f.Frame)
		}
		return
	}
	if len(pe.networks) == 0 {
		if r := pe.control(); pe.backlog.Len() == 0 && r != nil && !r.busy && r.transmit(f) {
			return
		}
	} else {
		for r := pe.railNow(f); r != nil; r = pe.railNow(f) {
			if r.transmit(f) {
				return
			}
		}
	}
	pe.backlog.Push(&f.Frame)
}

// pump sends what waits, in the order of urgency, as long as rails take it.
func (pe *peer) pump() {
	pe.resumed = false
	if pe.goodbye.owed {
		pe.answerGoodbye()
	}
	pe.sayGoodbye()
	if pe.inquires && pe.ways.Stage == rails.Known {
		pe.inquire()
	}
	if pe.ways.Stage == rails.Known {
		pe.pumpUrgent()
	}
	if pe.ways.Stage == rails.Known && pe.control() != nil {
		pe.pumpBacklog()
	}
	for pe.ways.Stage == rails.Known {
		if pe.control() == nil {
			return
		}
		switch {
		case pe.headOfLine():
			return
		case pe.sent.Replays() > 0:
			if !pe.replayNext() {
				return
			}
		case pe.waiting.head != nil && !pe.restrain():
			pe.launch(pe.waiting.pop())
		case pe.bulk.Len() > 0:
			r := pe.freeRail()
			if r == nil {
				return
			}
			pe.transmitHead(r, &pe.bulk) // or it goes by another one
		case pe.streams.head != nil && !pe.restrain():
			if !pe.cutPiece() {
				return
			}
		default:
			pe.pml.checkClosing()
			return
		}
	}
}

// transmitHead sends the first frame of a queue, which stays there if the rail
// does not take it.
func (pe *peer) transmitHead(r *rail, q *delivery.Queue) bool {
	f := q.Pop()
	if r.transmitOrCut(frameOf(f)) {
		return true
	}
	q.PushFront(f)
	return false
}

// clear takes the receiver's answer to a request to send.
func (pe *peer) clear(h *wire.Header) {
	op := pe.pml.lookup(h.Handle, pe, true)
	if op == nil || !op.asked || h.Round < op.round {
		return // it has ended, with its peer or its world, or the answer was withdrawn
	}
	if h.Flags&wire.FlagWithdrawn != 0 {
		op.withdrawal(h.Round)
		return
	}
	if h.Round > op.round {
		op.withdrawal(h.Round - 1) // which is still on its way
	}
	if op.cleared {
		return
	}
	if h.Round == 0 {
		pe.awaited.answered(h.Flags&wire.FlagAwaited != 0)
	}
	if op.pml.trace != nil {
		op.traceCleared()
	}
	op.cleared, op.remote = true, h.Remote
	op.accept = min(h.Accept, op.size)
	if h.Flags&wire.FlagRefused != 0 {
		op.err, op.accept = &peerClosedError{rank: pe.rank, host: pe.host}, 0
	}
	if op.offset < op.accept {
		if len(pe.rails) > 1 {
			pe.connectAll()
		}
		if op.rests = op.round > 0 && op.frames > 0; !op.rests {
			op.clearedStreams().push(op)
			pe.pump()
		}
		return
	}
	op.sendProgressed()
}

// sendProgressed completes a send whose last byte the peer has, or will never
// want, and whose buffer nobody holds any more.
func (op *operation) sendProgressed() {
	if op.done || op.frames > 0 {
		return
	}
	if op.asked && (!op.cleared || op.offset < op.accept) {
		return
	}
	op.complete(nil)
}

// BsendOverhead is what a buffered send takes of pml_buffered_max, in bytes, beside the
// copy of its message: its operation, its frame, the smallest buffer there is, and their
// places in lists. The copy takes the length of the message and up to half as much again
// (MPI_BSEND_OVERHEAD, MPI 4.1, section 3.6, is the like).
const BsendOverhead = 1024

// bufferedCharge is what a buffered send takes whose copy has a buffer of the given size.
func bufferedCharge(buffer int) int64 { return BsendOverhead + int64(max(buffer-payload.Smallest, 0)) }

// holdBuffered replaces the operation's buffer by a copy.
func (p *PML) holdBuffered(op *operation) error {
	free := p.tune.bufferedMax - p.buffered
	if charge := bufferedCharge(payload.Takes(int(op.size))); charge > free {
		return fmt.Errorf("%w: %d bytes, which take %d, but of pml_buffered_max = %d only %d are free",
			ErrBuffer, op.size, charge, p.tune.bufferedMax, free)
	}
	b := p.pool.Get(int(op.size))
	op.buf.Pack(b)
	p.buffered += bufferedCharge(cap(b))
	op.buf, op.packs, op.owned, op.orphan = payload.Memory{First: b}, false, true, true
	return nil
}

func (p *PML) releaseBuffered(op *operation) {
	p.buffered -= bufferedCharge(cap(op.buf.First))
	p.pool.Put(op.buf.First)
	op.owned = false
}

// Isend starts a send of buf, or of the pieces buf and more, to a rank of the
// context's group. The memory is the library's until the request completes, and
// so is the slice more.
func (c *Context) Isend(buf []byte, more [][]byte, dst, tag int, mode Mode) (Request, error) {
	p := c.pml
	p.engine.Lock()
	if more == nil && (mode == Standard || mode == Ready) && c.sendShort(buf, dst, tag) {
		p.engine.Unlock()
		return requestOf(&p.instant), nil
	}
	r, err := p.begun(c.isend(buf, more, dst, tag, mode))
	p.engine.Unlock()
	return r, err
}

// IsendAs is Isend of what a layout picks of the memory that begins with buf.
func (c *Context) IsendAs(as *layout.Layout, buf []byte, dst, tag int, mode Mode) (Request, error) {
	p := c.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	return p.begun(c.isendOf(buf, nil, as, dst, tag, mode))
}

// SendAs is Send of what a layout picks of the memory that begins with buf.
func (c *Context) SendAs(ctx context.Context, as *layout.Layout, buf []byte, dst, tag int, mode Mode) error {
	if err := Ended(ctx); err != nil {
		return err
	}
	p := c.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	op, err := c.isendOf(buf, nil, as, dst, tag, mode)
	if op != nil && err == nil {
		_, err = p.awaitAlone(ctx, op)
	}
	return err
}

// Send sends and waits until the send is complete. A context that has ended before
// has nothing sent.
func (c *Context) Send(ctx context.Context, buf []byte, more [][]byte, dst, tag int, mode Mode) error {
	if err := Ended(ctx); err != nil {
		return err
	}
	p := c.pml
	p.engine.Lock()
	if more == nil && (mode == Standard || mode == Ready) && c.sendShort(buf, dst, tag) {
		p.engine.Unlock()
		return nil
	}
	op, err := c.isend(buf, more, dst, tag, mode)
	if op != nil && err == nil {
		_, err = p.awaitAlone(ctx, op)
	}
	p.engine.Unlock()
	return err
}

var _ btl.Deferred = (*PML)(nil)
