package pml

import (
	"slices"

	"github.com/strandmp/strand/btl"
)

// An operation that ends gives its memory back to the program. By then no transport may
// read or write it. To keep transports from writing, landing places are revoked: what
// arrives later goes elsewhere. A transport may still have to read what it is to send.
// Where that can not be waited for, since the peer has left or failed, the frames are
// taken back first.

// lends reports whether the transport holds memory of an operation that ends now. The
// operation's frames were given up; the peer may have this one, by another rail.
func (r *rail) lends() bool {
	for f := r.line.Newest(); f != nil; f = f.Older() {
		if f.Size > 0 && frameOf(f.Whole()).lost {
			return true
		}
	}
	return false
}

// recall takes back all frames that the transport holds, whatever becomes of what they
// carry. The connection goes on if the transport can do that, and is closed otherwise.
func (r *rail) recall() {
	rec, ok := r.endpoint.(btl.Recaller)
	if !ok {
		r.shut(func() {
			_ = r.endpoint.Close()
			r.dropBegun()
		})
		return
	}
	if rec.Recall() > 0 {
		r.pml.stats.Rescued++
	}
	r.letGoAll()
}

// dropBegun notes that the frames that were arriving over the rail break off.
func (r *rail) dropBegun() {
	for _, in := range slices.Clone(r.peer.begun) {
		if in.rail == r {
			r.Drop(in.landing)
		}
	}
}

// takeBack has no transport hold memory of operations with a peer that has left, or has
// failed: those end now.
func (pe *peer) takeBack() {
	pe.dropFrames(pe.unreachable())
	if pe.unreachable() {
		pe.giveUp()
		return
	}
	recalled := false
	for r := range pe.everyRail {
		if r.lends() {
			r.recall()
			recalled = true
		}
	}
	if recalled {
		pe.choosePoller()
	}
}
