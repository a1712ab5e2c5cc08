package strand

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/pml"
)

// gridOf is a process's view of a grid that sends nothing.
func gridOf(size, rank int, dims []int, periodic []bool) *Cart {
	return newCart(&Comm{group: pml.ConsecutiveGroup(0, size), rank: rank}, dims, periodic)
}

// A process beyond the grid has nil, and may find that out from whichever call it makes.
func TestNobodyInAGrid(t *testing.T) {
	var g *Cart
	_, err := g.Coords(0)
	require.ErrorIs(t, err, ErrNilComm)
	_, err = g.At(0)
	require.ErrorIs(t, err, ErrNilComm)
	_, _, err = g.Shift(0, 1)
	require.ErrorIs(t, err, ErrNilComm)
	_, err = g.Sub(t.Context(), nil)
	require.ErrorIs(t, err, ErrNilComm)
	require.ErrorIs(t, g.NeighborAlltoallView(t.Context(), nil, nil), ErrNilComm)
}

// Parts for all neighbours that have more bytes together than an int holds are not as long as nothing.
func TestPartsOfNeighboursLongerThanAnInt(t *testing.T) {
	const dims = 32 // so 64 neighbours
	g := gridOf(1, 0, slices.Repeat([]int{1}, dims), make([]bool, dims))
	n := g.neighborAllgather("NeighborAllgather", nil, make([]byte, 1<<26), nil)
	require.ErrorContains(t, n.err, "NeighborAllgather: out has 0 bytes")
}

// The dimensions that are chosen are those of the most even grid there is.
func TestDimsCreate(t *testing.T) {
	for _, c := range []struct {
		n          int
		dims, want []int
	}{
		{6, []int{0, 0}, []int{3, 2}}, {7, []int{0, 0}, []int{7, 1}}, {6, []int{0, 3, 0}, []int{2, 3, 1}},
		{1, nil, nil}, {12, []int{0, 0, 0}, []int{3, 2, 2}}, {48, []int{0, 0}, []int{8, 6}}, {5, []int{5}, []int{5}},
	} {
		got, err := DimsCreate(c.n, c.dims)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	for _, c := range []struct {
		n    int
		dims []int
	}{{7, []int{0, 3, 0}}, {0, []int{0}}, {4, []int{-1}}, {4, []int{2}}, {4, nil}, {-2, []int{0}}} {
		_, err := DimsCreate(c.n, c.dims)
		require.ErrorContains(t, err, "DimsCreate: ", c)
	}
}

func TestDimsAreMostEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 400).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
		got, err := DimsCreate(n, make([]int, k))
		require.NoError(t, err)
		best := []int{math.MaxInt}
		factors(n, k, n, nil, func(dims []int) {
			if slices.Compare(dims, best) < 0 {
				best = slices.Clone(dims)
			}
		})
		require.Equal(t, best, got)
	})
}

// factors calls f with all descending lists of k factors of n.
func factors(n, k, most int, before []int, f func([]int)) {
	if k == 0 {
		if n == 1 {
			f(before)
		}
		return
	}
	for d := 1; d <= min(n, most); d++ {
		if n%d == 0 {
			factors(n/d, k-1, d, append(before, d), f)
		}
	}
}

// Divisions of many processes are found at once, also where they have few factors, or as many as there can be.
func TestDimsOfManyProcesses(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []int
	}{
		{math.MaxInt32, []int{math.MaxInt32, 1, 1}},
		{2 * 1073741789, []int{1073741789, 2, 1}},
		{46337 * 46337, []int{46337, 46337, 1}},
		{1 << 30, []int{1 << 10, 1 << 10, 1 << 10}},
	} {
		begin := time.Now()
		got, err := DimsCreate(c.n, make([]int, 3))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		require.Less(t, time.Since(begin), 10*time.Second, c.n)
	}
	for dims := range 40 { // 1536 divisors
		got, err := DimsCreate(2_095_133_040, make([]int, 1+dims))
		require.NoError(t, err)
		n := 1
		for _, d := range got {
			n *= d
		}
		require.Equal(t, 2_095_133_040, n)
	}
	if many := math.MaxInt; many > math.MaxInt32 {
		_, err := DimsCreate(many, make([]int, 2))
		require.ErrorContains(t, err, "does not have")
	}
	for _, few := range []int{0, -3} { // whatever the dimensions: these are not the mistake
		for _, dims := range [][]int{nil, {0}, {2, 0}} {
			_, err := DimsCreate(few, dims)
			require.ErrorContains(t, err, "want 1 to 2147483647")
		}
	}
}

// Colours tell apart who keeps other dimensions, and stay apart for those who keep the same.
func TestColoursOfSub(t *testing.T) {
	dims := []int{2, 1, 3, 2}
	keeps := [][]bool{{true, false, false, false}, {false, false, true, false}, {false, false, false, true}, {true, true, false, true}, {true, true, true, true}}
	seen := make(map[int]int)
	for i, keep := range keeps {
		for color := range 12 {
			marked := gridOf(12, 0, dims, make([]bool, 4)).marked(color, keep)
			require.GreaterOrEqual(t, marked, 0)
			before, twice := seen[marked]
			require.False(t, twice, "%v: %d, %d", keep, color, before)
			seen[marked] = 100*i + color
		}
	}
}

// Coordinates and ranks are each other's inverse, and what one passes on another one receives.
func TestPlacesInAGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 3).Draw(t, "dims")
		periodic := rapid.SliceOfN(rapid.Bool(), len(dims), len(dims)).Draw(t, "periodic")
		size := 1
		for _, d := range dims {
			size *= d
		}
		grid := make([]*Cart, size)
		for rank := range grid {
			grid[rank] = gridOf(size, rank, dims, periodic)
			coords, err := grid[rank].Coords(rank)
			require.NoError(t, err)
			got, err := grid[rank].At(coords...)
			require.NoError(t, err)
			require.Equal(t, rank, got)
		}
		if len(dims) == 0 {
			return
		}
		dim := rapid.IntRange(0, len(dims)-1).Draw(t, "dim")
		by := rapid.OneOf(rapid.IntRange(-9, 9), rapid.Int()).Draw(t, "by")
		for rank, g := range grid {
			src, dst, err := g.Shift(dim, by)
			require.NoError(t, err)
			x := g.coords[dim]
			inside := float64(x)+float64(by) >= 0 && float64(x)+float64(by) < float64(dims[dim])
			require.Equal(t, periodic[dim] || inside, dst != ProcNull)
			if dst != ProcNull {
				back, _, err := grid[dst].Shift(dim, by)
				require.NoError(t, err)
				require.Equal(t, rank, back)
			}
			if src != ProcNull {
				_, forth, err := grid[src].Shift(dim, by)
				require.NoError(t, err)
				require.Equal(t, rank, forth)
			}
		}
	})
}
