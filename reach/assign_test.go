package reach

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// brute tries every assignment and returns the largest sum.
func brute(weights [][]int64, used []bool) int64 {
	if len(weights) == 0 {
		return 0
	}
	most := brute(weights[1:], used) // the first row stays alone
	for column, weight := range weights[0] {
		if !used[column] && weight > 0 {
			used[column] = true
			most = max(most, weight+brute(weights[1:], used))
			used[column] = false
		}
	}
	return most
}

// requireAssignment checks that an answer is one, and returns its sum.
func requireAssignment(t require.TestingT, weights [][]int64, chosen []int) int64 {
	require.Len(t, chosen, len(weights))
	used := make(map[int]bool)
	sum := int64(0)
	for row, column := range chosen {
		if column < 0 {
			continue
		}
		require.False(t, used[column], "column %d twice: %v", column, chosen)
		used[column] = true
		require.Positive(t, weights[row][column], "an entry without weight: %v", chosen)
		sum += weights[row][column]
	}
	return sum
}

func TestAssign(t *testing.T) {
	for _, tc := range []struct {
		name    string
		weights [][]int64
		want    []int
	}{
		{"nothing", nil, []int{}},
		{"no columns", [][]int64{{}, {}}, []int{-1, -1}},
		{"one", [][]int64{{7}}, []int{0}},
		{"no weight", [][]int64{{0}}, []int{-1}},
		{"less than nothing", [][]int64{{-5}}, []int{-1}},
		{"the greedy choice is not the best", [][]int64{{10, 9}, {9, 1}}, []int{1, 0}},
		{"one heavy pair rather than two light ones", [][]int64{{10, 4}, {4, 0}}, []int{0, -1}},
		{"ties go in order", [][]int64{{5, 5}, {5, 5}}, []int{0, 1}},
		{"more rows than columns", [][]int64{{1}, {3}, {2}}, []int{-1, 0, -1}},
		{"more columns than rows", [][]int64{{1, 3, 2}}, []int{1}},
		{"a chain of moves", [][]int64{{9, 8, 0}, {9, 0, 5}, {9, 7, 0}}, []int{1, 2, 0}},
	} {
		require.Equal(t, tc.want, assign(tc.weights), tc.name)
	}
}

func TestAssignIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(t, 6, rapid.OneOf(
			rapid.Int64Range(-2, 3), // many ties
			rapid.Int64Range(0, 1000),
			rapid.Just(int64(0)), // sparse
		))
		got := requireAssignment(t, weights, assign(weights))
		require.Equal(t, brute(weights, make([]bool, 6)), got)
	})
}

// The same for many more, with a fixed seed.
func TestAssignThousands(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		rows, columns := random.IntN(6), random.IntN(6)
		most := []int64{2, 10, 1_000_000}[random.IntN(3)]
		weights := make([][]int64, rows)
		for row := range weights {
			weights[row] = make([]int64, columns)
			for column := range weights[row] {
				if random.IntN(3) > 0 {
					weights[row][column] = random.Int64N(most)
				}
			}
		}
		got := requireAssignment(t, weights, assign(weights))
		require.Equal(t, brute(weights, make([]bool, columns)), got, "%v", weights)
	}
}

// Weights as large as they become: no sum in between overflows.
func TestAssignLargeNumbers(t *testing.T) {
	most := fixed(mostQuality*(mostSpeed+1)) * 65
	require.Less(t, most, int64(math.MaxInt64/1024))
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(t, 5, rapid.Int64Range(most-3, most))
		got := requireAssignment(t, weights, assign(weights))
		require.Equal(t, brute(weights, make([]bool, 5)), got)
	})
}

func drawWeights(t *rapid.T, most int, weight *rapid.Generator[int64]) [][]int64 {
	columns := rapid.IntRange(0, most).Draw(t, "columns")
	return rapid.SliceOfN(rapid.SliceOfN(weight, columns, columns), 0, most).Draw(t, "weights")
}

// The best set does not change with the order in which it is asked for.
func TestAssignTransposed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(t, 12, rapid.Int64Range(0, 50))
		sum := requireAssignment(t, weights, assign(weights))
		if len(weights) == 0 {
			return
		}
		turned := make([][]int64, len(weights[0]))
		for column := range turned {
			for row := range weights {
				turned[column] = append(turned[column], weights[row][column])
			}
		}
		require.Equal(t, sum, requireAssignment(t, turned, assign(turned)))
	})
}
