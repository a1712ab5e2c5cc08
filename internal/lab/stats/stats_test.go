package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/lab/stats"
)

// Quantiles are those of R's quantile(x, p) and numpy.quantile(x, p), both by their defaults.
func TestQuantiles(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	skew := []float64{1.5, 2.25, 4, 11, 37}
	for _, c := range []struct {
		sorted      []float64
		share, want float64
	}{
		{ten, 0, 1}, {ten, 0.05, 1.45}, {ten, 0.25, 3.25}, {ten, 0.5, 5.5}, {ten, 0.9, 9.1}, {ten, 0.99, 9.91}, {ten, 0.999, 9.991}, {ten, 1, 10},
		{skew, 0.1, 1.8}, {skew, 0.25, 2.25}, {skew, 0.5, 4}, {skew, 0.75, 11}, {skew, 0.9, 26.6}, {skew, 0.99, 35.96},
		{[]float64{7}, 0.3, 7}, {[]float64{1, 3}, 0.5, 2}, {nil, 0.5, 0}, {ten, -1, 1}, {ten, 2, 10},
	} {
		assert.InDelta(t, c.want, stats.Quantile(c.sorted, c.share), 1e-12, "%v, %v", c.sorted, c.share)
	}
	assert.Equal(t, 5.0, stats.Median([]float64{9, 1, 5}))
}

func TestPlacesAreExactWhereTheyAreWhole(t *testing.T) {
	for n := 1; n <= 2001; n += 20 { // n - 1 is a multiple of 20
		for i := range 21 {
			below, part := stats.Place(n, float64(i)/20)
			require.Zero(t, part, "%d, %d/20", n, i)
			require.Equal(t, (n-1)/20*i, below)
		}
	}
}

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
		s := stats.Summarize(sample[:c.n])
		assert.Equal(t, stats.Summary{N: c.n, Median: c.median, Interval: stats.Interval{Low: c.low, High: c.high, Level: c.level}}, s)
		assert.Equal(t, c.n >= stats.Enough, s.Interval.Sure(), "%d", c.n)
	}
	assert.Zero(t, stats.Summarize(nil))
}

// Of more values than 2⁻ⁿ can be written for, intervals keep their promise too, and are no wider than they have to be.
func TestIntervalsOfManyValues(t *testing.T) {
	logGamma := func(n int) float64 {
		v, _ := math.Lgamma(float64(n))
		return v
	}
	for _, n := range []int{1000, 1074, 1075, 1076, 1077, 1078, 1079, 1080, 1200, 1201, 1300, 1301, 5000, 5001, 10_000, 20_001} {
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = float64(i)
		}
		s := stats.Summarize(sample)
		tail := 0.0 // the chance that no more values are below the median than are left out
		for k := range int(s.Interval.Low) + 1 {
			tail += math.Exp(logGamma(n+1) - logGamma(k+1) - logGamma(n-k+1) - float64(n)*math.Ln2)
		}
		assert.GreaterOrEqual(t, 1-2*tail, s.Interval.Level-1e-9, "%d", n)
		assert.InDelta(t, 1-2*tail, s.Interval.Level, 0.01, "%d", n)
		assert.Equal(t, float64(n-1), s.Interval.Low+s.Interval.High)
		assert.True(t, s.Interval.Sure())
	}
}

func TestRatiosByRound(t *testing.T) {
	r := stats.ByRound([]float64{20, 30, 10, 40, 50, 60}, []float64{10, 10, 10, 10, 10, 10})
	assert.InDelta(t, 3.4641016, r.Value, 1e-6, "the middle of 3 and 4 by their logarithms")
	assert.Equal(t, stats.Interval{Low: 1, High: 6, Level: 0.96875}, r.Interval)
	// What a round has in common drops out.
	r = stats.ByRound([]float64{2, 20, 200, 2000, 2e4, 2e5}, []float64{1, 10, 100, 1000, 1e4, 1e5})
	assert.Equal(t, stats.Ratio{Value: 2, N: 6, Interval: stats.Interval{Low: 2, High: 2, Level: 0.96875}}, r)

	assert.Equal(t, 5.0, stats.ByRound([]float64{1, 5, 9}, []float64{1, 1, 1}).Value)
	assert.Zero(t, stats.ByRound(nil, []float64{1}))
	assert.Zero(t, stats.ByRound([]float64{1, 1}, []float64{1, 0}))
	assert.Equal(t, stats.Ratio{Value: 0.5, N: 1}, stats.ByRound([]float64{1}, []float64{2}))
}

func TestRatiosOfMedians(t *testing.T) {
	r := stats.OfMedians([]float64{10, 20, 30, 40, 50, 60}, []float64{1, 2, 3, 4, 5, 6})
	assert.Equal(t, 10.0, r.Value)
	assert.Equal(t, stats.Interval{Low: 10.0 / 6, High: 60, Level: 0.96875}, r.Interval)
	assert.False(t, stats.OfMedians([]float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5, 6}).Interval.Sure())
	assert.Zero(t, stats.OfMedians(nil, []float64{1}))
	assert.Zero(t, stats.OfMedians([]float64{1}, []float64{0, 1}))
}

func positive() *rapid.Generator[float64] { return rapid.Float64Range(1e-6, 1e6) }

func TestSummariesOfAnySample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(positive(), 2, 60).Draw(t, "sample")
		s := stats.Summarize(sample)
		require.LessOrEqual(t, s.Interval.Low, s.Median)
		require.GreaterOrEqual(t, s.Interval.High, s.Median)
		require.Equal(t, len(sample) >= stats.Enough, s.Interval.Sure())
		// The order in which runs came does not matter, and the unit neither.
		shuffled := rapid.Permutation(sample).Draw(t, "shuffled")
		require.Equal(t, s, stats.Summarize(shuffled))
		for i := range shuffled {
			shuffled[i] *= 1024
		}
		require.Equal(t, s.Interval.Low*1024, stats.Summarize(shuffled).Interval.Low)
	})
}

// They rise with their shares, to the last bit: a report refuses those that do not.
func TestQuantilesOfAnySample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.OneOf(positive(), rapid.SampledFrom([]float64{0.1, 0.3, 1.1})), 1, 60).Draw(t, "sample")
		sorted := slices.Sorted(slices.Values(sample))
		shares := slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 2).Draw(t, "shares")))
		low, high := stats.Quantile(sorted, shares[0]), stats.Quantile(sorted, shares[1])
		require.LessOrEqual(t, low, high)
		require.GreaterOrEqual(t, low, sorted[0])
		require.LessOrEqual(t, high, sorted[len(sorted)-1])
	})
}

func TestRatiosOfAnySamples(t *testing.T) {
	for name, ratio := range map[string]func(_, _ []float64) stats.Ratio{"by round": stats.ByRound, "of medians": stats.OfMedians} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, 30).Draw(t, "n")
				a := rapid.SliceOfN(positive(), n, n).Draw(t, "a")
				b := rapid.SliceOfN(positive(), n, n).Draw(t, "b")
				r, back := ratio(a, b), ratio(b, a)
				require.Equal(t, r.Interval.Level, back.Interval.Level)
				require.InEpsilon(t, r.Value, 1/back.Value, 1e-9)
				if r.Interval.Level > 0 {
					require.LessOrEqual(t, r.Interval.Low, r.Value*(1+1e-12))
					require.GreaterOrEqual(t, r.Interval.High*(1+1e-12), r.Value)
					require.InEpsilon(t, r.Interval.Low, 1/back.Interval.High, 1e-9)
				}
				// A sample is no multiple of itself, whatever chance does.
				same := ratio(a, a).Interval
				if same.Level > 0 {
					require.LessOrEqual(t, same.Low, 1.0)
					require.GreaterOrEqual(t, same.High, 1.0)
				}
			})
		})
	}
}
