package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/results"
)

// One link that netem can not do, wherever it is in the list, takes all links to the other
// emulation.
func TestOneEmulationForAllLinks(t *testing.T) {
	plain, bursts := emulate.Link{}, emulate.Link{Path: emulate.Path{Loss: emulate.Bursts(0.01, 8)}}
	try := func(l emulate.Link) (network.Backend, string, error) {
		if l.Loss.Worsens > 0 {
			return network.UserSpace, "loss in bursts", nil
		}
		return network.Netem, "", nil
	}
	for _, c := range []struct {
		links []emulate.Link
		want  results.Links
	}{
		{[]emulate.Link{plain, plain}, results.Links{Kind: results.Netem}},
		{[]emulate.Link{plain, bursts, plain}, results.Links{Kind: results.UserSpace, Why: "not netem: loss in bursts"}},
		{[]emulate.Link{bursts, plain}, results.Links{Kind: results.UserSpace, Why: "not netem: loss in bursts"}},
	} {
		ground, err := sameForAll(c.links, try)
		require.NoError(t, err)
		assert.Equal(t, c.want, ground.Links())
	}
}
