package report

import (
	"math"
	"slices"
)

// wanted is the least confidence of an interval where there are enough runs.
const wanted = 0.95

// enough is the confidence below which an interval is no ground for a finding. Three
// runs of each variant have it.
const enough = 0.9 - 1e-9 // less rounding

// An Interval has a true value in it with a chance of Level. Without a Level there is
// none, since there were too few runs.
type Interval struct {
	Low, High float64
	Level     float64
}

// A Summary is of the runs of one variant in one cell.
type Summary struct {
	N        int
	Median   float64
	Interval Interval // of the median
}

// Summarize describes a sample, which it leaves as it is.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	s := Summary{N: len(sorted), Median: median(sorted)}
	if len(sorted) > 1 {
		place, level := medianPlace(len(sorted))
		s.Interval = Interval{sorted[place], sorted[len(sorted)-1-place], level}
	}
	return s
}

// interval is the median's, if it is worth showing: two runs have one of 50 %.
func (s Summary) interval() Interval {
	if s.Interval.Level <= 0.5 {
		return Interval{}
	}
	return s.Interval
}

// median is of a sorted sample.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// medianPlace returns how many of n values, from each end, can be left out of an interval
// of the median, and its confidence.
func medianPlace(n int) (place int, level float64) {
	// The chance that no more than so many of n values are below the median.
	term := math.Exp2(-float64(n))
	if term == 0 { // n > 1000: the normal approximation is right to three digits
		z := 1.96
		place = int((float64(n) - z*math.Sqrt(float64(n))) / 2)
		return place, wanted
	}
	tail := term
	level = 1 - 2*tail
	for k := 1; k <= n/2; k++ {
		term *= float64(n-k+1) / float64(k)
		tail += term
		if 1-2*tail < wanted {
			break
		}
		place, level = k, 1-2*tail
	}
	return place, level
}

// A Ratio says how one sample relates to another.
type Ratio struct {
	Value    float64 // 0: there is none
	Interval Interval
}

// interval is the ratio's, if it is good for a finding.
func (r Ratio) interval() Interval {
	if r.Interval.Level < enough {
		return Interval{}
	}
	return r.Interval
}

// mostOfASample bounds what RatioOf looks at of each sample; of more, it takes every
// so-manyth in their order, which widens the interval.
const mostOfASample = 200

// RatioOf returns by how much values exceed those of a base. Values must be above 0,
// else there is no ratio.
func RatioOf(values, base []float64) Ratio {
	values, base = thin(values), thin(base)
	if len(values) == 0 || len(base) == 0 || values[0] <= 0 || base[0] <= 0 {
		return Ratio{}
	}
	ratios := make([]float64, 0, len(values)*len(base))
	for _, v := range values {
		for _, b := range base {
			ratios = append(ratios, v/b)
		}
	}
	slices.Sort(ratios)
	r := Ratio{Value: median(ratios)}
	if place, level := ratioPlace(len(values), len(base)); level > 0 {
		r.Interval = Interval{ratios[place], ratios[len(ratios)-1-place], level}
	}
	return r
}

// thin sorts a sample, and thins it out if it is large.
func thin(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) <= mostOfASample {
		return sorted
	}
	few := make([]float64, mostOfASample)
	for i := range few {
		few[i] = sorted[i*(len(sorted)-1)/(mostOfASample-1)]
	}
	return few
}

// ratioPlace returns how many of the m·n ratios, from each end, can be left out of their
// interval, and its confidence: 0 if one value each is all there is.
func ratioPlace(m, n int) (place int, level float64) {
	if m*n > 400 {
		z := 1.96
		middle, deviation := float64(m*n)/2, math.Sqrt(float64(m*n)*float64(m+n+1)/12)
		return max(0, int(middle-z*deviation)), wanted
	}
	ways, all := mannWhitney(m, n)
	tail := 0.0
	for u, w := range ways {
		tail += w / all
		if u > 0 && 1-2*tail < wanted {
			break
		}
		place, level = u, 1-2*tail
	}
	return place, max(0, level)
}

// mannWhitney returns in how many of all orders of m and n values so many pairs have
// the smaller one first, for all counts of pairs. They are the coefficients of the Gaussian
// binomial.
func mannWhitney(m, n int) (ways []float64, all float64) {
	ways = make([]float64, m*n+1)
	ways[0] = 1
	for i := 1; i <= m; i++ {
		// Times (1 - q^(n+i)) / (1 - q^i).
		for u := len(ways) - 1; u >= n+i; u-- {
			ways[u] -= ways[u-n-i]
		}
		for u := i; u < len(ways); u++ {
			ways[u] += ways[u-i]
		}
	}
	for _, w := range ways {
		all += w
	}
	return ways, all
}
