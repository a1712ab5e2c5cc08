package pml

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
)

// A connection that works for short frames only, or every now and then, is worse than
// none: its handshake succeeds, it gets messages, and they stand still. So a rail that
// broke with frames under way carries none again before it has carried some that are as
// long, and of no value: probes. So has one that broke and had nothing to lose, since it is
// the other side then that has found it bad. Only where there is no other rail there is no
// trial.

// trial is how far a rail has come that has to prove itself.
type trial struct {
	lost   int   // bytes of the longest frame that it lost when it broke; 0: it never did
	on     bool  // it carries nothing but probes
	passed int   // probes that were answered
	since  int64 // when the trial began
	failed int   // trials in a row
	owed   bool  // an answer to the peer's probe, which the rail did not take
	due    bool  // a probe likewise
}

const (
	// probes is how many have to be answered: one may be lucky.
	probes = 3
	// leastProbe and mostProbe bound their length: several packets, and no more than
	// the longest that any network carries.
	leastProbe = 16 << 10
	mostProbe  = 64 << 10
	// mostPatience bounds how much longer each further trial may take, for slow networks:
	// so many times twice as long.
	mostPatience = 5
)

var probeLoad [mostProbe]byte

// loses notes that a frame was under way when the rail broke.
func (t *trial) loses(f *txFrame) { t.lost = max(t.lost, len(f.Header)+f.Size) }

// begin puts a rail that is connected again to the test, if it has lost anything.
func (t *trial) begin(now int64) {
	t.on, t.passed, t.since, t.owed, t.due = t.lost > 0, 0, now, false, false
}

// broken ends a trial.
func (t *trial) broken() {
	if t.on {
		t.failed++
	}
	t.on = false
}

// patience is how long the whole trial may take, if pml_rail_timeout is that for the first.
func (t *trial) patience(railTimeout time.Duration) time.Duration {
	return railTimeout << min(t.failed, mostPatience)
}

// probe sends the next probe, as soon as the rail takes it.
func (r *rail) probe() {
	n := min(max(r.trial.lost, leastProbe), mostProbe)
	if most := r.attr.MaxFrame; most > 0 {
		n = min(n, most)
	}
	f := r.pml.newFrame(r.peer)
	f.build(&header{kind: frameProbe})
	f.Payload, f.Size = probeLoad[:n], n
	if r.trial.due = !r.transmit(f); r.trial.due {
		r.pml.freeFrame(f)
	}
}

// answerProbe tells the peer that a probe has arrived, over the same rail.
func (r *rail) answerProbe() {
	r.trial.owed = true
	if r.busy || !r.up {
		return
	}
	f := r.pml.newFrame(r.peer)
	f.build(&header{kind: frameProbed})
	if r.trial.owed = !r.transmit(f); r.trial.owed {
		r.pml.freeFrame(f)
	}
}

// probed notes that a probe was answered.
func (r *rail) probed() {
	t := &r.trial
	if !t.on {
		return
	}
	if t.passed++; t.passed < probes {
		r.probe()
		return
	}
	*t = trial{}
	r.pml.host.Logf(btl.LogInfo, "rank %d: %s carries messages again", r.pml.rank, r.endpoint.Desc())
	r.peer.choosePoller()
	r.peer.pump()
}

// watchTrial ends a trial that takes too long.
func (r *rail) watchTrial(now int64) {
	r.expect()
	patience := r.trial.patience(r.pml.tune.railTimeout)
	if time.Duration(now-r.trial.since) >= patience {
		r.breakOff(fmt.Errorf("%s: %d of %d probes of %d bytes were answered in %v", r.endpoint.Desc(), r.trial.passed, probes, max(r.trial.lost, leastProbe), patience))
		r.peer.tellBroken(r)
	}
}
