package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

const netpipeOutput = `0: myhost
1: myhost
Now starting the main loop
  0:       8 bytes   2000 times -->      8.07 Mbps in       7.56 usec
`

func TestNetpipeOutput(t *testing.T) {
	us, err := parseNetpipe(netpipeOutput)
	require.NoError(t, err)
	assert.InDelta(t, 7.56, us, 1e-9)
	for _, bad := range []string{"", "0: myhost", "  0: 8 bytes 2000 times --> 8 Mbps in x usec", "0: 8 bytes --> 8 Mbps in -1 usec"} {
		_, err := parseNetpipe(bad)
		assert.Error(t, err, bad)
	}
}

func TestNetpipe(t *testing.T) {
	m := implementations[0].within(false, variant{})
	need.Program(t, m.start, m.fallback)
	need.Program(t, m.netpipe, m.fallback)
	p := &netpipePair{m}
	o := Order{Cell: Cell{Workload: PingPong, Pairs: 1, Window: 1, Size: 64}, Iters: 10}
	got, err := p.Run(t.Context(), o)
	require.NoError(t, err)
	assert.Positive(t, o.PerMessage(got.Took))
	assert.NoError(t, p.Close())
}
