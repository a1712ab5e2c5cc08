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

// speed is the rail's share of the speed of all. It is the one that is hoped for, or the weight
// as long as some rail was not measured.
func (pe *peer) speed(r *rail) float64 {
	for _, other := range pe.rails {
		if other.serves() && other.share.rate() == 0 {
			return max(r.weight, 1e-9)
		}
	}
	return r.share.speed()
}

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
	queued, speed, soonest := 0.0, 0.0, math.Inf(1)
	for _, r := range pe.rails {
		if r.serves() {
			r.look(now)
		}
	}
	for _, r := range pe.rails {
		if r.serves() {
			queued += float64(r.share.load())
			speed += pe.speed(r)
			soonest = min(soonest, pe.doneWith(r, n))
		}
	}
	end := (queued + pe.remaining()) / speed // if all rails finish together
	var best *rail
	most := 0
	for _, r := range pe.rails {
		if !r.serves() || r.busy || !r.hasRoom() {
			continue
		}
		room := n
		if pe.doneWith(r, n) > soonest {
			room = min(n, int(min(end*pe.speed(r), math.MaxInt32))-r.share.load())
			if room < min(n, minPiece) {
				continue
			}
			room = min(n, max(minPiece, room/2)) // it may be slower than thought
		}
		if best == nil || pe.doneWith(r, room) < pe.doneWith(best, most) {
			best, most = r, room
		}
	}
	if best != nil {
		pe.passOverIdle(best, most)
	}
	return best, most
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

// doneWith is when a rail will be done with what it has and n bytes more.
func (pe *peer) doneWith(r *rail, n int) float64 {
	return float64(r.share.load()+n) / pe.speed(r)
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
