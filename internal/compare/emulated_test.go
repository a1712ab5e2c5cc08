//go:build linux

package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/leak"
	"github.com/strandmp/strand/internal/testnet"
)

func TestOverEmulatedNetworks(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	p := plan(t, "tcp,sctp", "farm(tasks=30)", 0, 0.01)
	p.Ranks, p.Runs = 3, 1
	ground, err := Emulate(p.Links, p.MTU, "user")
	require.NoError(t, err)
	r, err := Run(t.Context(), config(t, p, ground, ""))
	require.NoError(t, err)
	assert.Equal(t, results.UserSpace, r.Links.Kind)
	for _, v := range r.Variants {
		assert.Equal(t, "1500", v.Facts[results.FactMTU])
	}
	for i, c := range r.Cells {
		require.Len(t, c.Runs, 2)
		for _, run := range c.Runs {
			require.Empty(t, run.Error)
			require.NotNil(t, run.Network)
			assert.Equal(t, i == 1, run.Network.Lost > 0, "%+v", run.Network)
			assert.Positive(t, run.Metrics[results.RunTime])
			assert.GreaterOrEqual(t, run.Network.DeliveredBytes, uint64(30*30_000))
			assert.NotEmpty(t, run.Rails)
			assert.Positive(t, run.Network.LateMeanSeconds)
			assert.GreaterOrEqual(t, run.Network.LateSeconds, 0.0)
		}
		assert.Equal(t, c.Runs[0].Seed, c.Runs[1].Seed)
	}
}
