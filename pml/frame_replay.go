package pml

import (
	"errors"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
)

// Nothing is lost with a rail that breaks. What it had not delivered for certain goes over
// another rail, or over the same one once that is connected again. The receiver knows
// frames by their numbers and drops what comes twice (docs/ARCHITECTURE.md, Delivery;
// LA-MPI's end-to-end retransmission).

// Down implements [btl.Receiver].
func (r *rail) Down(err error) {
	pe := r.peer
	pe.pml.catchUp()
	r.busy = true
	pe.ways.Down(&r.way, err, pe.env())
	pe.choosePoller()
	if pe.heard == r {
		pe.heard = nil
	}
	r.letGoAll()
	r.share = share{}
	switch {
	case pe.ways.Stage == rails.Closed:
		if !pe.up() && !pe.holding() { // one that is about to break may have a buffer yet
			pe.abandonSends()
			pe.breakOff()
		}
		return
	case pe.ways.Stage != rails.Known:
		return
	}
	pe.goodbye.said = false // it may be lost
	if r.pml.parting() && errors.Is(err, btl.ErrPeerClosed) {
		pe.goodbye.answered = true // its answer may be lost on another rail, and it has left
	}
	pe.queueReplay(r)
	if _, is := errors.AsType[*protocolError](err); is {
		pe.damage(err)
	}
	if pe.proceed(); pe.failure != nil {
		return
	}
	if pe.up() {
		pe.pump()
	} else {
		r.pml.checkClosing()
	}
}

// queueReplay has the frames that were given to a rail, and are not acknowledged, go
// again.
func (pe *peer) queueReplay(r *rail) {
	pe.sent.Lost(&r.line, func(f *delivery.Frame) {
		frameOf(f).reclaim() // it may be long until it goes
		r.way.Loses(len(f.Header) + f.Size)
	})
}

// replayNext sends the first frame that has lost its rail, and reports whether it
// is worth going on.
func (pe *peer) replayNext() bool {
	f := frameOf(pe.sent.NextReplay())
	r := pe.replayRail(f)
	switch {
	case f.Delivered(): // meanwhile
	case r == nil:
		return false
	case r.takes(f):
		again := f.Again()
		if !r.transmit(f) {
			return true // another one may take it
		}
		if again {
			pe.pml.stats.Replayed++
		}
	default:
		pe.sent.Replaying(&f.Frame)
		r.cut(f)
		return true
	}
	pe.sent.Replaying(&f.Frame)
	f.settle()
	return true
}

// replayOne sends the first of them before the next of the frames that wait for the first time. So neither waits
// for all of the others, however long a program goes on sending.
func (pe *peer) replayOne() {
	if pe.sent.Replays() > 0 {
		pe.replayNext()
	}
}

// replayRail is the rail for a frame that goes again, or a part of one, now. Of parallel rails
// any will do.
func (pe *peer) replayRail(f *txFrame) *rail {
	if len(pe.networks) > 1 || f.Urgent {
		return pe.railNow(f)
	}
	return pe.freeRail()
}

// causes is why none of the rails leads to the peer.
func (pe *peer) causes() error {
	var errs []error
	for _, r := range pe.rails {
		if r.way.Cause != nil {
			errs = append(errs, r.way.Cause)
		}
	}
	return errors.Join(errs...)
}

// railFor returns the rail of a module's path, or nil. Where a path has several
// (both sides have connected at once, and the transport kept both) one that is
// broken is preferred.
func (pe *peer) railFor(m btl.Module, path int) *rail {
	var found *rail
	for r := range pe.everyRail {
		if r.module == m && r.path.Index == path && (found == nil || r.broken()) {
			found = r
		}
	}
	return found
}
