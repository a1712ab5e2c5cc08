//go:build linux

package compare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Several networks between the hosts: the results say what each has carried, and when one was
// down.
func TestOverSeveralNetworks(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	p := plan(t, "tcp", "farm(tasks=200)", 0)
	p.Runs = 1
	p.Nets = parseNets(t, "name=main", "name=spare,rate=1gbit,down=1ms+1ms/2s")
	ground, err := Emulate(t.Context(), p.Wanted(), p.MTU, "user")
	require.NoError(t, err)
	r, err := Run(t.Context(), config(t, p, ground, ""))
	require.NoError(t, err)
	require.NoError(t, r.Check())
	require.Len(t, r.Cells, 1)
	assert.Len(t, r.Cells[0].Networks, 2)
	run := r.Cells[0].Runs[0]
	require.Empty(t, run.Error)
	require.Len(t, run.Network.Networks, 2)
	sum := uint64(0)
	for i, n := range run.Network.Networks {
		assert.Equal(t, r.Cells[0].Networks[i].Name, n.Name)
		assert.Positive(t, n.DeliveredBytes, "traffic is shared out")
		sum += n.DeliveredBytes
	}
	assert.Equal(t, run.Network.DeliveredBytes, sum)
	assert.Empty(t, run.Network.Networks[0].Down)
	assert.Equal(t, emulate.Outage{At: time.Millisecond, For: time.Millisecond}, run.Network.Networks[1].Down[0])
}

func TestOverEmulatedNetworks(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	p := plan(t, "tcp,sctp", "farm(tasks=30)", 0, 0.01)
	p.Ranks, p.Runs = 3, 1
	ground, err := Emulate(t.Context(), p.Wanted(), p.MTU, "user")
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
