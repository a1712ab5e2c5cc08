package pml

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

type gauge int

func (g *gauge) Outstanding() int { return int(*g) }

// Of what was given to a rail only that counts as a sign of life which the peer's
// system confirms, where the transport can tell.
func TestSignsAreWhatIsConfirmed(t *testing.T) {
	const overhead = 8 // of each frame, the transport's own
	under := gauge(0)
	r := &rail{gauge: &under}
	give := func(n int) {
		r.line.Take(&delivery.Frame{Frame: btl.Frame{Size: n}})
		under += gauge(n + overhead)
	}

	give(1000)
	before := r.signs()
	give(24)
	give(24)
	for range 2 {
		r.line.Release(r.line.Newest())
	}
	assert.Equal(t, before, r.signs(), "the system here has taken them")
	under -= 500
	after := r.signs()
	assert.Greater(t, after, before)
	give(24)
	give(24)
	assert.Equal(t, after, r.signs())
	under = 0
	assert.Greater(t, r.signs(), after)

	under = -1 // it can not be known
	r.line.Release(r.line.Newest())
	mark := r.signs()
	r.line.Release(r.line.Newest())
	assert.NotEqual(t, mark, r.signs())
}

// The only rail, where another one stands by, has pml_rail_timeout from when it was given something,
// or refused it, however long it had nothing to do before.
func TestOnlyRailIsSilentFromWhenSomethingIsExpectedOfIt(t *testing.T) {
	for name, result := range map[string]btl.Result{"it takes a frame": btl.Done, "it is busy": btl.Busy} {
		t.Run(name, func(t *testing.T) {
			twoPaths(t, func(pe *peer, eps [2]*scripted) {
				r := pe.rails[0]
				pe.lead(r)
				r.module.(*connector).ep = &scripted{result: btl.Busy}
				standingBy(pe, 0, &connector{ep: &scripted{result: btl.Busy}})
				eps[0].result = result
				pe.sendControl(&wire.Header{Kind: wire.Clear})
				pe.pass(pe.pml.tune.railTimeout * 7 / 8)
				require.True(t, r.up())
				pe.pass(pe.pml.tune.railTimeout / 2)
				assert.False(t, r.up(), "it is silent indeed")
			})
		})
	}
}

// far is an endpoint whose transport tells of its round trip.
type far struct {
	*scripted
	roundTrip time.Duration
}

func (f far) Report() btl.Report {
	return btl.Report{Congestion: &btl.Congestion{RoundTrip: f.roundTrip}}
}

// Over a way with a round trip above pml_rail_timeout a message after a rest does not look lost, and one that is lost is
// found out by and by.
func TestRailOverAFarWayIsNotSilent(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		const roundTrip = 700 * time.Millisecond
		r := pe.rails[0]
		r.module.(*connector).ep = &scripted{result: btl.Busy}
		r.setEndpoint(far{eps[0], roundTrip})
		for n := range uint32(3) {
			pe.sendControl(&wire.Header{Kind: wire.Clear})
			pe.pass(roundTrip)
			require.True(t, r.up())
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: n + 1}))
			pe.pass(time.Minute)
		}
		pe.sendControl(&wire.Header{Kind: wire.Clear})
		pe.pass(4 * roundTrip)
		assert.False(t, r.up())
	})
}

// A peer has failed within pml_peer_timeout of its last sign of life, and not much
// sooner.
func TestSilentPeerFailsInTime(t *testing.T) {
	pe, ep, _ := receiving(t)
	pe.pml.tune.peerTimeout, pe.rails[0].module = time.Second, &connector{ep: ep}
	pe.pml.beats.count = 100
	pe.beat, pe.ways.Met = 100, true
	for beat := 1; beat <= rails.Missable; beat++ {
		pe.pml.beats.count++
		pe.takePulse()
		assert.NoError(t, pe.failure, "beat %d", beat)
	}
	pe.pml.beats.count++
	pe.takePulse()
	assert.ErrorContains(t, pe.failure, "no sign of life")
}
