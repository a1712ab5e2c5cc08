package strand

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A rank whose share of a reduction is empty has memory in which no value has a place.
func TestFoldingOfNothing(t *testing.T) {
	op := NewOp(func(x, _ [2]int64) [2]int64 { return x }, true)
	op.op.Fold(make([]byte, 1)[:0], make([]byte, 1)[:0], true) // the race detector's build checks pointers
}

// What is no number counts alike whichever rank has it and in whatever order ranks are combined.
func TestNaNInReductions(t *testing.T) {
	nan := math.NaN()
	values := []float64{1, nan, -2, nan, math.Inf(1), math.Inf(-1), 7}
	at := func(op Op[Located[float64]], order []int, before bool) Located[float64] {
		acc := []Located[float64]{{values[order[0]], order[0]}}
		for _, i := range order[1:] {
			in := []Located[float64]{{values[i], i}}
			op.op.Fold(bytesOf(acc), bytesOf(in), before)
		}
		return acc[0]
	}
	value := func(op Op[float64], order []int, before bool) float64 {
		acc := []float64{values[order[0]]}
		for _, i := range order[1:] {
			op.op.Fold(bytesOf(acc), bytesOf([]float64{values[i]}), before)
		}
		return acc[0]
	}
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(t, "order")
		order = order[:rapid.IntRange(1, len(order)).Draw(t, "ranks")]
		before := rapid.Bool().Draw(t, "before")
		want, least, most := -1, order[0], order[0]
		for _, i := range order {
			if math.IsNaN(values[i]) && (want < 0 || i < want) {
				want = i
			}
			if values[i] < values[least] {
				least = i
			}
			if values[i] > values[most] {
				most = i
			}
		}
		if want >= 0 {
			least, most = want, want
		}
		require.Equal(t, most, at(MaxLoc[float64](), order, before).At)
		require.Equal(t, least, at(MinLoc[float64](), order, before).At)
		require.Equal(t, fmt.Sprint(values[most]), fmt.Sprint(value(Max[float64](), order, before)))
		require.Equal(t, fmt.Sprint(values[least]), fmt.Sprint(value(Min[float64](), order, before)))
	})
}

func bytesOf[T any](values []T) []byte {
	b, err := Bytes(values)
	if err != nil {
		panic(err)
	}
	return b
}
