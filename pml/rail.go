package pml

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// rail is one endpoint to a peer; it takes the endpoint's up-calls.
type rail struct {
	pml       *PML
	peer      *peer
	module    btl.Module
	attr      btl.Attr
	path      btl.Path
	endpoint  btl.Endpoint
	poller    btl.Poller      // the endpoint, if it can poll
	gauge     btl.Gauge       // likewise, if it can tell what is under way
	queue     btl.Flusher     // likewise, if it holds frames until they have arrived, and tells what it has not sent
	meter     btl.Speedometer // likewise, if it can tell how fast it is
	pace      pace
	weight    float64
	share     share
	way       rails.Rail    // what it is good for now
	address   btl.Peer      // what the module needs to connect it; not of a foreign one
	busy      bool          // it refused a frame and has not called Writable since
	refusedAt int64         // when it refused the last one, if there are several rails
	line      delivery.Line // what the transport holds
	traffic   Traffic
	liveness  liveness

	probeOwed bool // an answer to the peer's probe, which the rail did not take
	probeDue  bool // a probe likewise

	keeper btl.Keeper // the endpoint, if frames need no copy for replay while it lives
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
	r.gauge, _ = ep.(btl.Gauge)
	r.meter, _ = ep.(btl.Speedometer)
	r.keeper, _ = ep.(btl.Keeper)
	if r.retains() {
		r.queue, _ = ep.(btl.Flusher)
	}
}

// transmit gives a frame to the endpoint and reports whether it was taken. The
// acknowledgement and the credit go with it.
func (r *rail) transmit(f *txFrame) bool {
	pe, size := r.peer, len(f.Header)+f.Size
	if f.packed.needed {
		f.pack()
	}
	wire.Restamp(f.header[:], pe.received.Next(), pe.grant.Granted())
	several, opens, now := len(pe.rails) > 1 || pe.express.rail != nil, false, int64(0)
	if several {
		now = r.pml.engine.Now()
		f.Given, opens = now, f.opens
	}
	switch r.endpoint.Send(&f.Frame.Frame, f.lane) {
	case btl.Done:
		r.line.Passed(&f.Frame)
		if f.op != nil || !f.Pending() {
			f.settle()
		}
	case btl.Taken:
		r.line.Take(&f.Frame)
	case btl.Busy:
		r.busy, r.refusedAt = true, now
		r.expect()
		return false
	case btl.Broken:
		r.busy = true // Down follows
		pe.ways.Broken(&r.way, pe.env())
		pe.choosePoller()
		return false
	}
	if several {
		r.share.gave(size, now)
		if opens {
			f.opens = false
			r.counts(f.length)
			if r.pml.trace != nil {
				r.traceOver(f.context, f.seq)
			}
		}
		pe.widen(r, now)
	}
	r.expect()
	if r.trusted() {
		pe.received.Stamped()
		pe.grant.Told()
	}
	if pe.received.AwaitsAnswer() {
		pe.received.Answered(r.pml.engine.Now())
	}
	return true
}

// begins notes that a message begins with the frame. The rail that it goes over counts it; of
// several it is not known yet which one that is.
func (pe *peer) begins(f *txFrame, r *rail, length uint64) {
	if len(pe.rails) == 1 {
		r.counts(length)
		return
	}
	f.opens, f.length = true, length
}

// counts notes a message that begins on the rail.
func (r *rail) counts(length uint64) {
	r.traffic.Sent++
	r.traffic.BytesSent += length
}

// widen connects the other networks once more is under way over the first than a message that
// is alone.
func (pe *peer) widen(r *rail, now int64) {
	if !pe.narrow || r.share.load() < wide {
		return
	}
	if r.look(now); r.share.load() >= wide {
		pe.connectAll()
	}
}

// Up implements [btl.Receiver].
func (r *rail) Up(hello []byte) {
	h, err := wire.DecodeHello(hello)
	if err != nil {
		r.pml.host.Logf(btl.LogWarn, "rank %d: hello of rank %d over %s: %v", r.pml.rank, r.peer.rank, r.endpoint.Desc(), err)
		r.Down(fmt.Errorf("hello of rank %d: %w", r.peer.rank, err))
		return
	}
	pe, before := r.peer, r.way.Cause
	r.busy, r.probeOwed, r.probeDue = false, false, false
	r.sample(0, false)
	pe.ways.Up(&r.way, pe.env())
	pe.endTurn()
	pe.choosePoller()
	if before != nil {
		r.ask() // so that something is heard
	}
	if r.way.State == rails.Trial {
		r.probe()
	}
	pe.proceed()
	pe.credit.Open(h.Credit)
	pe.reserve()
	pe.connectBundle(r)
	pe.pump()
}

// Writable implements [btl.Receiver].
func (r *rail) Writable() {
	r.busy = false
	if r.probeOwed {
		r.answerProbe()
	}
	if r.probeDue && r.way.State == rails.Trial {
		r.probe()
	}
	r.peer.pump()
	if r.peer.received.Due() {
		r.peer.acknowledge()
	}
}

// Released implements [btl.Receiver].
func (r *rail) Released(bf *btl.Frame) {
	f := bf.Owner.(*txFrame)
	r.line.Release(&f.Frame)
	if len(r.peer.rails) > 1 && r.gauge == nil {
		r.look(r.pml.engine.Now())
	}
	f.settle()
	if len(r.peer.rails) > 1 || r.peer.streams.head != nil || r.peer.resumed {
		r.peer.pump() // the rail takes another piece
	}
	r.peer.unpacked()
	if r.pml.closing {
		r.pml.checkClosing()
	}
}

// letGoAll takes back the frames of a transport that is broken. What the peer
// has acknowledged is done; what else has a number stays in the window.
func (r *rail) letGoAll() {
	for d := r.line.Reclaim(); d != nil; d = r.line.Reclaim() {
		f := frameOf(d)
		if !f.Numbered() && f.op != nil {
			f.lose() // without acknowledgement nobody knows whether it arrived
		}
		f.settle()
	}
}
