package strand

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml"
)

// However long names are, a description has what tells calls apart, and is as long as fits.
func TestDescriptionsOfCalls(t *testing.T) {
	long := strings.Repeat("example.org/a/very/long/path/of/packages/", 30)
	of := reflect.TypeFor[struct {
		Temperatures, Pressures, Velocities, Densities, Humidities    [3]float64
		Inclinations, Declinations, Ascensions, Distances, Magnitudes [3]float64
	}]()
	calls := []call{
		{name: "Allreduce", op: long + "Greatest", of: of, bytes: 8},
		{name: "Allreduce", op: long + "Greatest", of: of, bytes: 16},
		{name: "Allreduce", op: long + "Smallest", of: of, bytes: 8},
		{name: "Reduce", rooted: true, root: 1, op: long + "Smallest", of: of, bytes: 8},
		{name: "Reduce", rooted: true, root: 2, op: long + "Smallest", of: of, bytes: 8},
		{name: "Reduce", rooted: true, root: 2, op: "other/" + long + "Smallest", of: of, bytes: 8},
		{name: "Dup", also: long + "a" + long},
		{name: "Dup", also: long + "b" + long},
		{name: "Dup", also: strings.Repeat("ü", 400)},
	}
	seen := make(map[string]bool)
	for _, k := range calls {
		text := k.text(4)
		assert.LessOrEqual(t, len(text), mostText)
		assert.Equal(t, strings.ToValidUTF8(text, ""), text)
		assert.True(t, strings.HasPrefix(text, k.name))
		assert.False(t, seen[text], text)
		seen[text] = true
	}
	text := calls[3].text(4)
	assert.Contains(t, text, "Reduce with root 1 by example.org/")
	assert.Contains(t, text, "Smallest of values of type struct {")
	assert.Contains(t, text, "[3]float64 }, 8 bytes")
}

// Parts that have more bytes together than an int holds are not as long as nothing.
func TestPartsLongerThanAnInt(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	c := w.Comm()
	defer func(alone *pml.Group) { c.group = alone }(c.group)
	c.group = pml.ConsecutiveGroup(0, 64)
	assert.ErrorContains(t, c.checkLength("Allgather", "out", nil, 0, 1<<26), "Allgather: out has 0 bytes: want 4294967296")
	_, _, err = blocks(c, "ReduceScatterBlock", Sum[uint8](), nil, make([]uint8, 1<<26))
	assert.ErrorContains(t, err, "in has 0 values")
}

// Who gives values is told in values what does not fit, and who gives bytes in bytes.
func TestMistakesAreCountedAsTheyAreGiven(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	ctx, c, two, five := t.Context(), w.Comm(), make([]int64, 2), make([]int64, 5)
	ring, err := c.Cart(ctx, []int{1}, []bool{true})
	require.NoError(t, err)
	late := func(_ Request, err error) error { return err }
	for want, errs := range map[string][]error{
		"the root's buffer has 5 values of 8 bytes: want 2, for 1 ranks of 2 each": {Gather(ctx, c, two, five, 0), Scatter(ctx, c, five, two, 0), late(Igather(c, two, five, 0)), late(Iscatter(c, five, two, 0))},
		"the root's buffer has 5 bytes: want 2, for 1 ranks of 2 each":             {c.Gather(ctx, make([]byte, 2), make([]byte, 5), 0)},
		"out has 5 values of 8 bytes: want 2, for 1 ranks of 2 each":               {Allgather(ctx, c, two, five), late(Iallgather(c, two, five))},
		"in has 2 values of 8 bytes, and the piece of this rank, 0, has 5":         {Allgatherv(ctx, c, two, [][]int64{five}), Alltoallv(ctx, c, [][]int64{two}, [][]int64{five}), late(Iallgatherv(c, two, [][]int64{five})), late(Ialltoallv(c, [][]int64{two}, [][]int64{five}))},
		"in has 2 values of 8 bytes and out 5":                                     {Alltoall(ctx, c, two, five), late(Ialltoall(c, two, five)), NeighborAlltoall(ctx, ring, two, five)},
		"out has 5 values of 8 bytes: want 2 for each of 2 neighbours":             {NeighborAllgather(ctx, ring, two, five)},
	} {
		for _, err := range errs {
			assert.ErrorContains(t, err, want)
		}
	}
}
