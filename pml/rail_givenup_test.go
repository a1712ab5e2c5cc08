package pml

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// twoPaths runs a test, in virtual time, with a peer to which two connected rails of
// one module lead, both for a second.
func twoPaths(t *testing.T, f func(pe *peer, eps [2]*scripted)) {
	synctest.Test(t, func(t *testing.T) {
		pe, first, _ := receiving(t)
		p, m := pe.pml, &connector{}
		p.tune.railTimeout = 500 * time.Millisecond
		p.modules = []openModule{{component: "tcp", module: m}}
		_, second := secondRail(pe)
		for i, r := range pe.rails {
			r.module, r.path.Index = m, i
			r.comesUp()
		}
		pe.pass(time.Second)
		f(pe, [2]*scripted{first, second})
	})
}

// underWay has a frame be on its way over a rail.
func (pe *peer) underWay(r *rail) {
	f := pe.numberedFrame()
	r.line.Passed(&f.Frame)
	f.Given = pe.pml.engine.Now()
}

func brokenNote(path uint16, component string) wire.Header {
	return wire.Header{Kind: wire.Broken, Path: path, Component: []byte(component)}
}

// Who gives a connection up says so over another one.
func TestBrokenConnectionIsTold(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		pe.underWay(pe.rails[0])
		pe.watch() // which takes note of the signs that there are
		eps[1].sent = nil
		pe.pass(pe.pml.tune.railTimeout / 2)
		pe.watch()
		pe.pass(pe.pml.tune.railTimeout / 2)
		pe.rails[1].hear()
		pe.watch()
		assert.False(t, pe.rails[0].up())
		last := eps[1].sent[len(eps[1].sent)-1]
		assert.Equal(t, wire.Broken, last.Kind)
		assert.Zero(t, last.Path)
		assert.Equal(t, "tcp", string(last.Component))
	})
}

// Who hears that gives it up too, unless it is another connection that is meant.
func TestBrokenConnectionIsHeardOf(t *testing.T) {
	for name, c := range map[string]struct {
		note  wire.Header
		young bool
		by    int
		up    bool
	}{
		"that one":                      {note: brokenNote(0, "tcp"), by: 1},
		"one that was made since":       {note: brokenNote(0, "tcp"), by: 1, young: true, up: true},
		"the one that brings the news":  {note: brokenNote(0, "tcp"), by: 0, up: true},
		"one that is not there":         {note: brokenNote(7, "tcp"), by: 1, up: true},
		"one of another transport":      {note: brokenNote(0, "udp"), by: 1, up: true},
		"one of a transport of no name": {note: brokenNote(0, "\x00"), by: 1, up: true},
	} {
		t.Run(name, func(t *testing.T) {
			twoPaths(t, func(pe *peer, _ [2]*scripted) {
				if c.young {
					pe.rails[0].comesUp()
				}
				require.NoError(t, pe.rails[c.by].Deliver(encoded(c.note), nil))
				pe.pass(time.Millisecond)
				assert.Equal(t, c.up, pe.rails[0].up())
				assert.True(t, pe.rails[1].up())
			})
		})
	}
}

// Where a path has two connections, of which one is down, the other one is meant.
func TestBrokenConnectionOfTwoOverAPath(t *testing.T) {
	twoPaths(t, func(pe *peer, _ [2]*scripted) {
		r := pe.rails[0]
		pe.also(&rail{endpoint: &scripted{}, module: r.module, path: r.path}, rails.Gone)
		require.NoError(t, pe.rails[1].Deliver(encoded(brokenNote(0, "tcp")), nil))
		pe.pass(time.Millisecond)
		assert.False(t, r.up())
	})
}

// Others go before a rail that is silent, until it gives a sign of life or is the
// only one.
func TestSilentRailIsDoubted(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		silent, other := pe.rails[0], pe.rails[1]
		pe.heard = silent
		require.Same(t, silent, pe.control())
		silence := func() {
			pe.watch()
			pe.pass(pe.pml.tune.railTimeout * 2 / 3)
			pe.watch()
		}
		pe.underWay(silent)
		silence()
		assert.Same(t, other, pe.control())
		assert.Same(t, other, pe.freeRail())
		assert.Same(t, other, pe.ackRail(), "an acknowledgement would be lost over the other")
		other.busy = true
		assert.Same(t, other, pe.control(), "it waits")
		other.busy = false
		silent.hear()
		pe.watch()
		assert.Same(t, silent, pe.control())

		silence()
		eps[1].result = btl.Busy
		other.Down(assert.AnError)
		assert.Same(t, silent, pe.control(), "there is no other")
	})
}
