package sm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// Ranks tell each other on which processors they wait, whether they said so before they met or after.
func TestPlaces(t *testing.T) {
	p := unconnected(t)
	p.modules[0].Settle(5, false)
	p.connect()
	var waiting btl.Processors
	look := func(i int) (on btl.Processors, unsure bool) {
		waiting = btl.Processors{}
		unsure = p.modules[i].Neighbours(&on, &waiting)
		return on, unsure
	}

	on, unsure := look(1)
	require.True(t, on.Has(5))
	require.False(t, unsure)

	on, unsure = look(0)
	require.Zero(t, on)
	require.True(t, unsure, "it is awake, and has not said where")
	p.modules[1].Doze()
	_, unsure = look(0)
	require.False(t, unsure, "it sleeps")
	p.modules[1].Wake()
	p.modules[1].Settle(0, false)
	on, unsure = look(0)
	require.True(t, on.Has(0))
	require.Zero(t, waiting)
	require.False(t, unsure)
	p.modules[1].Settle(0, true)
	look(0)
	require.True(t, waiting.Has(0))
	p.modules[1].Settle(0, false)
	look(0)
	require.Zero(t, waiting)

	p.modules[1].Settle(-1, false)
	on, _ = look(0)
	require.Zero(t, on)

	for _, nonsense := range []uint64{1025, 1 << 32, math.MaxUint64} {
		p.ep[1].pipe.us.place.Store(nonsense)
		on, _ = look(0)
		require.Zero(t, on)
	}
}

// meeter is a loop that is told whom something goes to.
type meeter struct{ peers []int }

func (m *meeter) Meet(peer int) { m.peers = append(m.peers, peer) }

// The loop learns when something goes to a peer that does not look just now: one that sleeps, or waits for long. One that
// sleeps is woken as well, one that waits is not.
func TestMeetings(t *testing.T) {
	p := connect(t)
	m := &meeter{}
	p.modules[0].meeter = m
	send := func() { require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0)) }
	pipe := p.ep[0].pipe
	before := pipe.bells

	p.modules[1].Settle(5, false)
	send()
	require.Empty(t, m.peers, "it computes")
	p.modules[1].Settle(5, true)
	send()
	require.Equal(t, []int{5}, m.peers)
	require.Equal(t, before, pipe.bells)
	for p.ep[1].receive() {
	}
	require.True(t, p.modules[1].Doze())
	p.modules[1].Settle(-1, false)
	send()
	require.Equal(t, []int{5, -1}, m.peers)
	require.Equal(t, before+1, pipe.bells)
	p.modules[1].Wake()
	send()
	require.Len(t, m.peers, 2)
}
