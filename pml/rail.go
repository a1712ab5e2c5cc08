package pml

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// rail is one endpoint to a peer; it takes the endpoint's up-calls.
type rail struct {
	pml      *PML
	peer     *peer
	module   btl.Module
	attr     btl.Attr
	path     btl.Path
	endpoint btl.Endpoint
	poller   btl.Poller // the endpoint, if it can poll
	weight   float64
	load     float64 // bytes given to it, over its weight
	up       bool
	busy     bool // it refused a frame and has not called Writable since
	traffic  Traffic
}

// Traffic counts what a rail has carried for the program, without headers and
// control frames.
type Traffic struct {
	Sent, Received           uint64 // messages; a long one counts where it began
	BytesSent, BytesReceived uint64
}

var _ btl.Receiver = (*rail)(nil)

func (r *rail) setEndpoint(ep btl.Endpoint) {
	r.endpoint = ep
	r.poller, _ = ep.(btl.Poller)
}

// transmit gives a frame to the endpoint and reports whether it was taken. The
// acknowledgement and the credit go with it.
func (r *rail) transmit(f *txFrame) bool {
	pe := r.peer
	restamp(f.header[:], pe.received.next, pe.grant.advertise())
	f.rail = r
	switch r.endpoint.Send(&f.Frame, f.lane) {
	case btl.Done:
		if !f.counted {
			f.acked = true
		}
		f.settle()
	case btl.Taken:
		f.held = true
	case btl.Busy:
		r.busy = true
		return false
	case btl.Broken:
		r.up, r.busy = false, true // Down follows
		return false
	}
	if len(pe.received.beyond) == 0 {
		pe.ackDue, pe.unacked = false, 0
	}
	return true
}

// Up implements [btl.Receiver].
func (r *rail) Up(hello []byte) {
	h, err := decodeHello(hello)
	if err != nil {
		r.pml.host.Logf(btl.LogWarn, "rank %d: hello of rank %d over %s: %v", r.pml.rank, r.peer.rank, r.endpoint.Desc(), err)
		r.Down(fmt.Errorf("hello of rank %d: %w", r.peer.rank, err))
		return
	}
	pe := r.peer
	r.up, r.busy = true, false
	pe.choosePoller()
	pe.credit.open(h.credit)
	if c := r.pml.closer; c != nil && c.phase == parting {
		pe.sayGoodbye() // it comes too late
	}
	pe.pump()
}

// Writable implements [btl.Receiver].
func (r *rail) Writable() {
	r.busy = false
	if r.peer.goodbye.owed {
		r.peer.answerGoodbye()
	}
	r.peer.pump()
	if r.peer.ackDue {
		r.peer.acknowledge()
	}
}

// Released implements [btl.Receiver].
func (r *rail) Released(bf *btl.Frame) {
	f := bf.Owner.(*txFrame)
	f.held = false
	if !f.counted {
		f.acked = true
	}
	f.settle()
}

// Down implements [btl.Receiver].
func (r *rail) Down(err error) {
	pe := r.peer
	r.up, r.busy = false, true
	pe.choosePoller()
	pe.sent.each(func(f *txFrame) {
		if f.rail == r {
			f.held = false
		}
	})
	if pe.up() {
		return
	}
	if errors.Is(err, btl.ErrPeerClosed) && pe.state == peerClosed {
		return
	}
	pe.fail(peerFailed, &PeerFailedError{Rank: pe.rank, Host: pe.host, Cause: err})
}
