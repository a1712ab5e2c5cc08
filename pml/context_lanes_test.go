package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/lanes"
)

// sendingIn is a context whose messages to a peer are taken at once, with as many lanes.
func sendingIn(t testing.TB, n int) (*scripted, *Context) {
	pe, ep, c := receiving(t)
	pe.rails[0].attr = btl.Attr{EagerLimit: 1 << 10, MaxFrame: 1 << 10}
	p := pe.pml
	p.tune.lanes, p.tune.copyLimit, p.tune.copyPool = n, 1<<10, 1<<20
	pe.laneSeq, pe.spread = make([]uint32, n), lanes.Peer{Lanes: n}
	pe.credit.Open(1 << 16)
	c.channelTo(1)
	return ep, c
}

// Ten tags travel in ten lanes, by the short path and by the general one.
func TestTenTagsTravelInTenLanes(t *testing.T) {
	for _, step := range []int{1, 10, 64, 100} {
		ep, c := sendingIn(t, 10)
		for round := range 3 {
			ep.sent = nil
			seen := make(map[uint16]bool)
			for i := range 10 {
				if i%2 == 0 {
					require.True(t, c.sendShort(make([]byte, 8), 1, i*step))
				} else {
					_, err := c.isend(make([]byte, 200), nil, 1, i*step, Standard)
					require.NoError(t, err)
				}
			}
			for _, h := range ep.sent {
				seen[h.Lane] = true
			}
			assert.Len(t, seen, 10, "tags in steps of %d, round %d", step, round)
		}
	}
}
