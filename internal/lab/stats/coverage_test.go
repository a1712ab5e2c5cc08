package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/stats"
	"github.com/strandmp/strand/internal/test/need"
)

// A family is two kinds of values whose medians are known, and how they are drawn.
type family struct {
	name     string
	a, b     func(*rand.Rand) float64
	ofA, ofB float64 // medians
	// round is the median of a/b; 0: to be found out, since it is not that of the medians.
	round float64
}

// normal in logarithms, around 1.
func logNormal(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }
}

// heavy has, in its logarithms, the tails of Cauchy, up to what numbers can hold.
func heavy(r *rand.Rand) float64 {
	return math.Exp(min(max(0.1*math.Tan(math.Pi*(r.Float64()-0.5)), -100), 100))
}

// timeouts are what a run takes that meets one or meets none.
func timeouts(r *rand.Rand) float64 {
	if r.Float64() < 0.5 {
		return 0.9 + 0.1*r.Float64()
	}
	return 1 + 3*r.Float64()
}

// oneOf draws one of some values.
func oneOf(values ...float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return values[r.IntN(len(values))] }
}

func families() []family {
	normal := func(r *rand.Rand) float64 { return 10 + r.NormFloat64() }
	return []family{
		{"equal normal", normal, normal, 10, 10, 1},
		{"a shift of equal shapes", func(r *rand.Rand) float64 { return 3 * normal(r) }, normal, 30, 10, 3},
		{"lognormal, unequal spread", logNormal(0.02), logNormal(1), 1, 1, 1},
		{"steady against exponential", oneOf(math.Ln2), func(r *rand.Rand) float64 { return r.ExpFloat64() }, math.Ln2, math.Ln2, 1},
		{"nearly steady against exponential", func(r *rand.Rand) float64 { return math.Ln2 * logNormal(0.01)(r) },
			func(r *rand.Rand) float64 { return r.ExpFloat64() }, math.Ln2, math.Ln2, 0},
		{"heavy tails", heavy, heavy, 1, 1, 1},
		{"heavy tails against steady", heavy, logNormal(0.01), 1, 1, 1},
		{"bimodal", timeouts, timeouts, 1, 1, 1},
		{"bimodal against steady", timeouts, oneOf(1), 1, 1, 1},
		{"bimodal against normal", timeouts, logNormal(0.05), 1, 1, 0},
		{"ties", oneOf(1, 2, 2, 3, 4), oneOf(1, 1, 2, 4, 4), 2, 2, 1},
		{"ties against steady", oneOf(1, 2, 2, 2, 4), oneOf(2), 2, 2, 1},
		// One's upper half is above all of the other, whose lower half is below all of it: where
		// a comparison of medians can err most.
		{"the worst", oneOf(0.999, 2), oneOf(0.5, 1.001), 1, 1, 0},
	}
}

// ratioByRound is the median of a/b.
func (f family) ratioByRound() float64 {
	if f.round > 0 {
		return f.round
	}
	r := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, 100_001)
	for i := range ratios {
		ratios[i] = f.a(r) / f.b(r)
	}
	return stats.Median(ratios)
}

// missed returns how many of so many intervals leave a true value out.
func (f family) missed(n, trials int, true float64, ratio func(_, _ []float64) stats.Ratio) (missed int, level float64) {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	a, b := make([]float64, n), make([]float64, n)
	const rounding = 1e-12
	for range trials {
		for i := range n {
			a[i], b[i] = f.a(r), f.b(r)
		}
		i := ratio(a, b).Interval
		if i.Low > true*(1+rounding) || i.High < true*(1-rounding) {
			missed++
		}
		level = i.Level
	}
	return missed, level
}

// No interval leaves out the true value more often than it says, whatever the shapes. The long
// form is exact to a thousandth.
func TestIntervalsKeepTheirPromise(t *testing.T) {
	trials := 400
	if need.Soaking() {
		trials = 200_000
	}
	for _, f := range families() {
		for name, c := range map[string]struct {
			ratio func(_, _ []float64) stats.Ratio
			true  float64
		}{"by round": {stats.ByRound, f.ratioByRound()}, "of medians": {stats.OfMedians, f.ofA / f.ofB}} {
			t.Run(f.name+", "+name, func(t *testing.T) {
				for _, n := range []int{5, 6, 7, 8, 10, 12, 15, 20} {
					missed, level := f.missed(n, trials, c.true, c.ratio)
					promised := 1 - level
					chance := 4 * math.Sqrt(promised*(1-promised)/float64(trials)) // what these trials may show, at four deviations
					got := float64(missed) / float64(trials)
					t.Logf("%2d: %.2f %% missed, %.2f %% promised", n, got*100, promised*100)
					assert.LessOrEqual(t, got, promised+chance, "of %d", n)
				}
			})
		}
	}
}

// These families show up an interval that promises too much. One that assumes that a is a
// multiple of b misses more than twice as often as it says: 90 % for three of each, 97 % for
// five.
func TestIntervalsThatAssumeEqualShapesDoNot(t *testing.T) {
	const trials = 1000
	for n, promised := range map[int]float64{3: 0.1, 5: 8.0 / 252} {
		worst := 0.0
		for _, f := range families() {
			missed, _ := f.missed(n, trials, f.ofA/f.ofB, func(a, b []float64) stats.Ratio { return shift(a, b, map[int]int{3: 0, 5: 2}[n]) })
			worst = max(worst, float64(missed)/trials)
		}
		t.Logf("%d: %.1f %% missed, %.1f %% promised", n, worst*100, promised*100)
		assert.Greater(t, worst, 2*promised, fmt.Sprint(n))
	}
}

// shift is that interval: of all pairs' ratios, without some at either end.
func shift(a, b []float64, without int) stats.Ratio {
	var all []float64
	for _, v := range a {
		for _, w := range b {
			all = append(all, v/w)
		}
	}
	slices.Sort(all)
	return stats.Ratio{Value: stats.Median(all), Interval: stats.Interval{Low: all[without], High: all[len(all)-1-without]}}
}
