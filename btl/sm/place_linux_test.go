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
	p.modules[0].Settle(5)
	p.connect()
	look := func(i int) (on btl.Processors, unsure bool) {
		unsure = p.modules[i].Neighbours(&on)
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
	p.modules[1].Settle(0)
	on, unsure = look(0)
	require.True(t, on.Has(0))
	require.False(t, unsure)

	p.modules[1].Settle(-1)
	on, _ = look(0)
	require.Zero(t, on)

	for _, nonsense := range []uint64{1025, 1 << 32, math.MaxUint64} {
		p.ep[1].pipe.us.place.Store(nonsense)
		on, _ = look(0)
		require.Zero(t, on)
	}
}
