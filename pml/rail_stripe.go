package pml

import (
	"math"

	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/wire"
)

// A long message goes over all rails to its peer. What counts is when its last byte
// arrives, so all rails should finish at about the same time. Each rail gets pieces as
// fast as it drains them. Towards the end it gets none that another rail would deliver
// sooner.

const (
	// maxHeld is how many frames a rail holds while there are others: one on its
	// way and one to follow. More would queue ahead of what is urgent.
	maxHeld = 2
	// minPiece is the least that a long message is cut into for several rails.
	minPiece = 32 << 10
)

// dataRail chooses the rail for the next piece of a long message, and the piece's length,
// at most n bytes. It is the rail that will be done first, of those that take a frame now.
// It is nil if the busy rails would have delivered everything before.
func (pe *peer) dataRail(n int, now int64) (*rail, int) {
	if len(pe.rails) == 1 {
		if r := pe.rails[0]; r.serves() && !r.busy && !r.laden() {
			return r, r.portion(n)
		}
		return nil, 0
	}
	options := pe.stripes(n, now)
	load, soonest := 0.0, math.Inf(1)
	for _, o := range options {
		load += o.load
		soonest = min(soonest, o.done(n))
	}
	end := (load + pe.remaining()) / speedOf(options) // if all rails finish together
	var best *option
	most := 0
	for i := range options {
		o := &options[i]
		if room := o.piece(n, soonest, end); room > 0 && (best == nil || o.done(room) < best.done(most)) {
			best, most = o, room
		}
	}
	if best == nil {
		return nil, 0
	}
	pe.passOverIdle(best.rail, most)
	return best.rail, most
}

// stripes are the rails for a piece of n bytes.
func (pe *peer) stripes(n int, now int64) []option {
	pe.options = pe.options[:0]
	for _, r := range pe.rails {
		if r.serves() {
			r.look(now)
			pe.options = append(pe.options, option{r, float64(r.share.load()), r.share.speed(), !r.busy && r.hasRoom(), 0})
		}
	}
	return comparable(pe.options, min(n, enough))
}

// piece is how much of n bytes the rail is to have: all of it if no other one will be done with that sooner, and otherwise
// as much as it delivers by the end. It gets no more than is enough while its speed is not known. 0: nothing.
func (o *option) piece(n int, soonest, end float64) int {
	if !o.accepts {
		return 0
	}
	room := n
	if o.done(n) > soonest {
		room = min(n, int(min(end*o.speed-o.load, math.MaxInt32)))
		if room < min(n, minPiece) {
			return 0
		}
		room = min(n, max(minPiece, room/2)) // it may be slower than thought
	}
	if o.rail.share.rate() == 0 {
		room = min(room, enough)
	}
	return room
}

// passOverIdle notes that one rail gets n bytes while others have nothing to do.
func (pe *peer) passOverIdle(chosen *rail, n int) {
	for _, r := range pe.rails {
		if r.serves() && r != chosen && r.share.load() <= tail {
			r.share.passOver(n)
		}
	}
}

// freeRail is the rail for a frame that is cut already: of those that take one now,
// the one with the least to do.
func (pe *peer) freeRail() *rail {
	var best *rail
	for _, r := range pe.rails {
		if r.serves() && !r.busy && (best == nil || r.share.load() < best.share.load()) {
			best = r
		}
	}
	return best
}

// remaining is what of long messages is still to be given to rails.
func (pe *peer) remaining() float64 {
	n := uint64(0)
	for op := pe.streams.head; op != nil; op = op.next {
		n += op.left()
	}
	pe.bulk.All(func(f *delivery.Frame) bool {
		n += uint64(f.Size)
		return true
	})
	return float64(n)
}

// pieceSize is how much of what is left of a long message goes into one frame:
// large frames over one rail, smaller ones towards the end over several.
func (pe *peer) pieceSize(left uint64) uint64 {
	up, most := 0, uint64(0)
	for _, r := range pe.rails {
		if !r.serves() {
			continue
		}
		up++
		size := uint64(r.attr.MaxFrame)
		if r.attr.BestFrame > 0 && r.attr.BestFrame < r.attr.MaxFrame {
			size = uint64(r.attr.BestFrame)
		}
		if most == 0 || size < most {
			most = size
		}
	}
	if up > 1 {
		most = min(most, max(minPiece, left/uint64(4*up)))
	}
	return min(left, most)
}

// cutPiece sends the next piece of a cleared message, and reports false if no rail
// is to have it now.
func (pe *peer) cutPiece() bool {
	op := pe.nextStream(&pe.streams)
	if op == nil {
		return false
	}
	r, size := pe.dataRail(int(op.atMost(pe.pieceSize(op.left()))), pe.pml.engine.Now())
	if r == nil {
		return false
	}
	f := op.cut(uint64(size))
	pe.streams.wasCut(op)
	if !r.transmit(f) {
		pe.bulk.Push(&f.Frame)
	}
	return true
}

// cut makes a frame of the next n bytes of a cleared message.
func (op *operation) cut(n uint64) *txFrame {
	f := op.peer.pml.newFrame(op.peer)
	h := wire.Header{Kind: wire.Data, Lane: op.lane, Handle: op.remote, Offset: op.offset}
	f.refer(op, op.offset, n)
	if op.offset += n; op.offset == op.accept {
		h.Flags |= wire.FlagAckNow
	}
	f.build(&h)
	return f
}
