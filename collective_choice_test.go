package strand

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/param"
)

// What is not set is chosen by length and number of ranks; what is set is what coll knows by that name.
func TestAlgorithmsAreThoseThatAreSet(t *testing.T) {
	var r param.Registry
	declareCollectives(&r)
	chosen := func(settings ...param.Setting) coll.Choice {
		v, err := r.Resolve(param.Inputs{Settings: settings})
		require.NoError(t, err)
		ch := choice(v)
		require.NoError(t, ch.Check())
		return ch
	}
	require.Equal(t, coll.Choice{}, chosen())
	require.Equal(t, coll.Choice{Allgather: "bruck", ReduceScatter: "rooted"},
		chosen(param.Setting{Name: "coll_allgather", Text: "bruck"}, param.Setting{Name: "coll_reducescatter", Text: "rooted"}))
}
