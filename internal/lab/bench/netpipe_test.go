package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

func TestNetpipeOutput(t *testing.T) {
	us, err := parseNetpipe("      64 1077.894737   0.00000045\n")
	require.NoError(t, err)
	assert.InDelta(t, 0.453, us, 1e-4)
	for _, bad := range []string{"", "64 1077.89", "64 x 0.1", "64 0 0.1", "-64 3 0.1", "64 NaN 0.1", "Inf 1 0.1"} {
		_, err := parseNetpipe(bad)
		assert.Error(t, err, bad)
	}
}

func TestNetpipe(t *testing.T) {
	m := implementations[0].within(false, variant{})
	need.Program(t, m.start, m.fallback)
	need.Program(t, m.netpipe, m.fallback)
	p := &netpipePair{m, t.TempDir()}
	o := Order{Cell: Cell{Workload: PingPong, Pairs: 1, Window: 1, Size: 64}, Iters: 10}
	got, err := p.Run(t.Context(), o)
	require.NoError(t, err)
	assert.Positive(t, o.PerMessage(got.Took))
	assert.NoError(t, p.Close())
}
