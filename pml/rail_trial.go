package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// What a rail on trial carries (pml/rails), and the answers to it.

var probeLoad [rails.MostProbe]byte

// probe sends the next probe, as soon as the rail takes it.
func (r *rail) probe() {
	n := r.way.ProbeSize()
	if most := r.attr.MaxFrame; most > 0 {
		n = min(n, most)
	}
	f := r.pml.newFrame(r.peer)
	f.build(&wire.Header{Kind: wire.Probe})
	f.Payload, f.Size = probeLoad[:n], n
	if r.probeDue = !r.transmit(f); r.probeDue {
		r.pml.freeFrame(f)
	}
}

// answerProbe tells the peer that a probe has arrived, over the same rail.
func (r *rail) answerProbe() {
	r.probeOwed = true
	if r.busy || !r.up() {
		return
	}
	f := r.pml.newFrame(r.peer)
	f.build(&wire.Header{Kind: wire.Probed})
	if r.probeOwed = !r.transmit(f); r.probeOwed {
		r.pml.freeFrame(f)
	}
}

// probed notes that a probe was answered.
func (r *rail) probed() {
	if r.way.State != rails.Trial {
		return
	}
	if r.peer.ways.Probed(&r.way, r.peer.env()) {
		r.probe()
		return
	}
	r.pml.host.Logf(btl.LogInfo, "rank %d: %s carries messages again", r.pml.rank, r.endpoint.Desc())
	r.peer.choosePoller()
	r.peer.pump()
}
