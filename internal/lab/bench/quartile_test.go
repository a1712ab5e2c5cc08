package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestSummary(t *testing.T) {
	for _, tc := range []struct {
		sample                []float64
		lower, median, higher float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{3, 1}, 1.5, 2, 2.5},
		{[]float64{5, 1, 4, 2, 3}, 2, 3, 4},
		{[]float64{1, 2, 3, 4}, 1.75, 2.5, 3.25},
		{[]float64{1, 1, 1, 1000}, 1, 1, 250.75},
	} {
		sample := blocksOf(tc.sample...)
		before := slices.Clone(sample)
		s := summarize(sample)
		assert.InDelta(t, tc.lower, s.LowerQuartile, 1e-9, "%v", tc.sample)
		assert.InDelta(t, tc.median, s.Median, 1e-9, "%v", tc.sample)
		assert.InDelta(t, tc.higher, s.UpperQuartile, 1e-9, "%v", tc.sample)
		assert.Equal(t, len(tc.sample), s.Blocks)
		assert.Equal(t, before, sample, "the sample was changed")
	}
}

// blocksOf are blocks of such times, with as much processor time.
func blocksOf(times ...float64) []block {
	var all []block
	for _, us := range times {
		all = append(all, block{us, us})
	}
	return all
}

func TestSummaryIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Float64Range(0.1, 1e6), 1, 60).Draw(t, "sample")
		s := summarize(blocksOf(sample...))
		in := []float64{s.Min, s.LowerQuartile, s.Median, s.UpperQuartile, s.Max}
		for i, v := range in[1:] {
			// Interpolation may err in the last digit.
			assert.GreaterOrEqual(t, v*(1+1e-12), in[i])
		}
		below := 0
		for _, v := range sample {
			if v < s.LowerQuartile {
				below++
			}
		}
		assert.LessOrEqual(t, 4*below, len(sample)+3)
	})
}

func TestSpread(t *testing.T) {
	assert.InDelta(t, 0.25, Summary{LowerQuartile: 4, Median: 5}.Spread(), 1e-9)
}
