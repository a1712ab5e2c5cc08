package calls

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
)

// A layout that is drawn picks the blocks that are drawn with it, in their order, and nothing else.
func TestDrawnLayouts(t *testing.T) {
	for seed := range need.Seeds(t, 2000, 200_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := r.IntN([]int{1, 10, 300}[r.IntN(3)] + 1)
		l, blocks, length := DrawLayout[int32](r, n)
		require.Equal(t, 4*n, l.Size(), "seed %d", seed)
		values, message := make([]int32, length), make([]int32, n)
		for i := range values {
			values[i] = int32(i)
		}
		b, err := strand.Bytes(message)
		require.NoError(t, err)
		_, err = l.Of(values).Pack(b)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, slices.Equal(Collect(nil, values, blocks, n), message), "seed %d: %v", seed, blocks)
		for i := range message {
			message[i] = -1 - int32(i)
		}
		want := slices.Clone(values)
		require.Equal(t, n, Scatter(want, blocks, message))
		_, err = l.Of(values).Unpack(b)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, slices.Equal(want, values), "seed %d: %v", seed, blocks)
	}
}

// The neighbours that calls are compared by are those that a grid says.
func TestNeighbours(t *testing.T) {
	nobody := strand.ProcNull
	for _, c := range []struct {
		rank     int
		dims     []int
		periodic []bool
		want     []int
	}{
		{0, []int{1}, []bool{false}, []int{nobody, nobody}},
		{0, []int{1}, []bool{true}, []int{0, 0}},
		{1, []int{2}, []bool{true}, []int{0, 0}},
		{3, []int{2, 3}, []bool{false, true}, []int{0, nobody, 5, 4}},
		{2, []int{2, 3}, []bool{true, false}, []int{5, 5, 1, nobody}},
	} {
		require.Equal(t, c.want, Neighbours(c.rank, c.dims, c.periodic), "%+v", c)
	}
}
