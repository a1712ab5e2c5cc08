package report_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/compare/report"
)

// Levels are those of tables of the binomial distribution.
func TestIntervalsOfMedians(t *testing.T) {
	sample := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}
	for _, c := range []struct {
		n         int
		median    float64
		low, high float64
		level     float64
	}{
		{1, 9, 0, 0, 0}, {2, 5, 1, 9, 0.5}, {3, 8, 1, 9, 0.75}, {4, 5, 1, 9, 0.875}, {5, 7, 1, 9, 0.9375},
		{6, 5, 1, 9, 0.96875}, {8, 5, 1, 9, 0.9921875}, {9, 5, 2, 8, 0.9609375},
	} {
		s := report.Summarize(sample[:c.n])
		assert.Equal(t, report.Summary{N: c.n, Median: c.median, Interval: report.Interval{Low: c.low, High: c.high, Level: c.level}}, s)
	}
	assert.Zero(t, report.Summarize(nil))
}

// Levels are those of tables of Mann and Whitney's U.
func TestIntervalsOfRatios(t *testing.T) {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	for _, c := range []struct {
		m, n  int
		level float64
	}{{1, 1, 0}, {2, 2, 1 - 2.0/6}, {3, 3, 0.9}, {4, 4, 1 - 2.0/70}, {5, 5, 1 - 8.0/252}, {3, 5, 1 - 2.0/56}} {
		assert.InDelta(t, c.level, report.RatioOf(ones(c.m), ones(c.n)).Interval.Level, 1e-12, "%d, %d", c.m, c.n)
	}
	assert.Zero(t, report.RatioOf(nil, ones(3)))
	assert.Zero(t, report.RatioOf(ones(3), []float64{1, 0, 1}))

	// Of five each, U ≤ 2 is left out at either end: two ratios.
	r := report.RatioOf([]float64{10, 20, 30, 40, 50}, []float64{1, 1, 1, 1, 1})
	assert.Equal(t, 30.0, r.Value)
	assert.Equal(t, 10.0, r.Interval.Low)
	assert.Equal(t, 50.0, r.Interval.High)
}

func positive() *rapid.Generator[float64] { return rapid.Float64Range(1e-6, 1e6) }

func TestSummariesOfAnySample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(positive(), 2, 60).Draw(t, "sample")
		s := report.Summarize(sample)
		require.LessOrEqual(t, s.Interval.Low, s.Median)
		require.GreaterOrEqual(t, s.Interval.High, s.Median)
		if len(sample) > 5 {
			require.GreaterOrEqual(t, s.Interval.Level, 0.95)
		}
		// The order in which runs came does not matter, and the unit neither.
		shuffled := rapid.Permutation(sample).Draw(t, "shuffled")
		require.Equal(t, s, report.Summarize(shuffled))
		for i := range shuffled {
			shuffled[i] *= 1024
		}
		require.Equal(t, s.Interval.Low*1024, report.Summarize(shuffled).Interval.Low)
	})
}

func TestRatiosOfAnySamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(positive(), 1, 30).Draw(t, "a")
		b := rapid.SliceOfN(positive(), 1, 30).Draw(t, "b")
		r, back := report.RatioOf(a, b), report.RatioOf(b, a)
		require.Equal(t, r.Interval.Level, back.Interval.Level)
		if r.Interval.Level > 0 {
			require.LessOrEqual(t, r.Interval.Low, r.Value)
			require.GreaterOrEqual(t, r.Interval.High, r.Value)
			require.InEpsilon(t, r.Interval.Low, 1/back.Interval.High, 1e-9)
		}
		// A sample is no multiple of itself, whatever chance does.
		same := report.RatioOf(a, a)
		if same.Interval.Level > 0 {
			require.LessOrEqual(t, same.Interval.Low, 1.0)
			require.GreaterOrEqual(t, same.Interval.High, 1.0)
		}
	})
}

// Large samples are thinned out, and the approximation fits on to the exact numbers.
func TestRatiosOfLargeSamples(t *testing.T) {
	sample := func(n int, factor float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = factor * (1 + float64(i)/float64(n))
		}
		return values
	}
	small, middle, large := report.RatioOf(sample(20, 2), sample(20, 1)), report.RatioOf(sample(21, 2), sample(20, 1)), report.RatioOf(sample(5000, 2), sample(3000, 1))
	for _, r := range []report.Ratio{small, middle, large} {
		assert.InDelta(t, 2, r.Value, 0.1)
		assert.GreaterOrEqual(t, r.Interval.Level, 0.95)
	}
	assert.InEpsilon(t, small.Interval.Low, middle.Interval.Low, 0.05)
	assert.Greater(t, large.Interval.Low, middle.Interval.Low)
}

// How often an interval misses: no more often than it says. The generator is seeded.
func TestIntervalsKeepTheirPromise(t *testing.T) {
	const trials = 4000
	rng := newExponential(1)
	missedMedian, missedRatio := 0, 0
	for range trials {
		a, b := rng.sample(5), rng.sample(5)
		if i := report.Summarize(a).Interval; i.Low > rng.median() || i.High < rng.median() {
			missedMedian++
		}
		if i := report.RatioOf(a, b).Interval; i.Low > 1 || i.High < 1 {
			missedRatio++
		}
	}
	assert.InDelta(t, 0.0625, float64(missedMedian)/trials, 0.012) // three standard deviations
	assert.InDelta(t, 8.0/252, float64(missedRatio)/trials, 0.009)
}
