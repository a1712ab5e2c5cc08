package pml

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// probesOf counts the probes that an endpoint was given.
func probesOf(ep *scripted) (n int) {
	for _, h := range ep.sent {
		if h.Kind == wire.Probe {
			n++
		}
	}
	return n
}

// A rail that broke with frames under way carries none, while there is another, until it
// has carried probes as long, in time.
func TestRailThatLostSomethingHasATrial(t *testing.T) {
	for name, c := range map[string]struct {
		answers int
		wait    time.Duration
		up      bool
		serves  bool
	}{
		"all are answered":       {answers: 3, up: true, serves: true},
		"one is lost":            {answers: 3 - 1, up: true},
		"they take too long":     {answers: 3 - 1, wait: 2 * time.Second},
		"none may take its time": {up: true},
	} {
		t.Run(name, func(t *testing.T) {
			twoPaths(t, func(pe *peer, eps [2]*scripted) {
				r := pe.rails[0]
				r.module.(*connector).ep = eps[0]
				pe.underWay(r)
				r.Down(assert.AnError)
				pe.comesBack(t)
				require.True(t, r.up())
				assert.False(t, r.serves())
				assert.Same(t, pe.rails[1], pe.control())
				assert.Same(t, pe.rails[1], pe.ackRail())
				assert.Equal(t, 1, probesOf(eps[0]))
				answer := wire.Header{Kind: wire.Probed}
				for range c.answers {
					require.NoError(t, r.Deliver(encoded(answer), nil))
				}
				for range c.wait / (100 * time.Millisecond) {
					pe.rails[1].hear()
					pe.pass(100 * time.Millisecond)
				}
				pe.rails[1].hear()
				pe.watch()
				assert.Equal(t, c.up, r.up())
				assert.Equal(t, c.serves, r.serves())
			})
		})
	}
}

// What broke and had nothing to lose has a trial too: the other side may have found it bad.
// Where there is no other rail there is none.
func TestNoTrialWithoutAnother(t *testing.T) {
	twoPaths(t, func(pe *peer, _ [2]*scripted) {
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.rails[0].Down(assert.AnError)
		pe.comesBack(t)
		assert.False(t, pe.rails[0].serves())
		pe.rails[1].Down(assert.AnError)
		assert.True(t, pe.rails[0].serves(), "there is no other")
	})
}

// Who gets a probe answers over the same rail, when that takes the answer.
func TestProbeIsAnswered(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		r := pe.rails[1]
		probe := wire.Header{Kind: wire.Probe}
		eps[1].result = btl.Busy
		require.NoError(t, r.Deliver(encoded(probe), make([]byte, 100)))
		eps[1].result, eps[1].sent, r.busy = btl.Done, nil, true
		r.Writable()
		require.NotEmpty(t, eps[1].sent)
		assert.Equal(t, wire.Probed, eps[1].sent[0].Kind)
		assert.False(t, r.probeOwed)
	})
}

// A rail that is heard of, but gets rid of next to nothing while another one does well, is
// doubted, and given up.
func TestRailThatCreepsIsGivenUp(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		slow, well := pe.rails[0], pe.rails[1]
		pe.underWay(slow)
		pe.sent.Each(func(f *delivery.Frame) { f.Given = pe.pml.engine.Now() })
		half := pe.pml.tune.railTimeout / 2
		for range 2 {
			require.True(t, slow.up())
			for range 2 {
				pe.pass(half / 2)
				slow.hear()
				well.hear()
				pe.watch()
			}
		}
		pe.pass(half / 2)
		slow.hear()
		well.hear()
		pe.watch()
		assert.False(t, slow.up())
		assert.ErrorContains(t, slow.way.Cause, "it carries next to nothing while others do")
		assert.True(t, well.up())
	})
}

// Where no other rail does better a slow one is what there is.
func TestRailThatCreepsIsAllThereIs(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		slow := pe.rails[0]
		pe.underWay(slow)
		pe.sent.Each(func(f *delivery.Frame) { f.Given = pe.pml.engine.Now() })
		for range 20 {
			pe.pass(pe.pml.tune.railTimeout / 4)
			slow.hear()
			pe.watch()
		}
		assert.True(t, slow.up())
		assert.True(t, slow.serves())
	})
}

// The only rail of several that was ever connected falls silent: the others connect.
func TestSilentRailHasTheOthersConnect(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		silent, other := pe.rails[0], pe.rails[1]
		eps[1].result, eps[1].offers = btl.Busy, 0
		other.is(rails.Idle)
		pe.underWay(silent)
		pe.watch()
		pe.pass(pe.pml.tune.railTimeout * 2 / 3)
		pe.watch()
		assert.Positive(t, eps[1].offers)
	})
}

// A frame over a rail that is on trial or in doubt may be lost. So an acknowledgement or credit
// that it carries does not count as told.
func TestRailsThatAreNotTrustedTellNothing(t *testing.T) {
	for _, state := range []rails.State{rails.Trial, rails.Doubted} {
		for name, say := range map[string]func(r *rail) error{
			"a probe is answered": func(r *rail) error {
				return r.Deliver(encoded(wire.Header{Kind: wire.Probe}), make([]byte, 10))
			},
			"a sign of life": func(r *rail) error {
				return r.Deliver(encoded(wire.Header{Kind: wire.Ack, Flags: wire.FlagAckNow}), nil)
			},
			"the peer is asked": func(r *rail) error { r.ask(); return nil },
		} {
			t.Run(fmt.Sprintf("%v: %s", state, name), func(t *testing.T) {
				twoPaths(t, func(pe *peer, eps [2]*scripted) {
					pe.rails[1].is(state)
					before, some := kinds(eps[0], wire.Ack), pe.grant.Telling()-1
					pe.grant.Take(2 * some)
					require.False(t, pe.grant.Refund(some))
					pe.acknowledgeSoon()
					require.NoError(t, say(pe.rails[1]))
					pe.pml.Flush()
					require.Equal(t, before+1, kinds(eps[0], wire.Ack))
				})
			})
		}
	}
}

// Nor does what a frame carries that a busy rail refuses, and that is dropped.
func TestBusyRailsTellNothing(t *testing.T) {
	pe, ep, _ := receiving(t)
	some := pe.grant.Telling() - 1
	pe.grant.Take(some + 1)
	require.False(t, pe.grant.Refund(some))
	ep.result = btl.Busy
	pe.rails[0].ask()
	require.True(t, pe.grant.Refund(1), "the peer knows nothing of the first ones")
}
