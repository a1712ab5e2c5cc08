package stats

import (
	"math"
	"slices"
)

// wanted is the least confidence of an interval where there are enough values.
const wanted = 0.95

// Enough is the least number of values, or of pairs, whose median has an interval of 95 %: that of
// five is at 94 %.
const Enough = 6

// An Interval contains the true value with a chance of Level, or more. A Level of 0 means that
// there is no interval, since there were too few values.
type Interval struct {
	Low, High float64
	Level     float64
}

// Sure tells whether an interval is good for a verdict.
func (i Interval) Sure() bool { return i.Level >= wanted-rounding }

const rounding = 1e-9

// A Summary is of a sample.
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
	return Summary{N: len(sorted), Median: Quantile(sorted, 0.5), Interval: intervalOf(sorted)}
}

// intervalOf is the interval of a sorted sample's median.
func intervalOf(sorted []float64) Interval {
	if len(sorted) < 2 {
		return Interval{}
	}
	place, level := medianPlace(len(sorted))
	return Interval{sorted[place], sorted[len(sorted)-1-place], level}
}

// medianPlace returns how many of n values, from each end, can be left out of an interval
// of the median, and its confidence.
func medianPlace(n int) (place int, level float64) {
	// The chance that no more than so many of n values are below the median.
	term := math.Exp2(-float64(n))
	if term == 0 { // n > 1074: the normal approximation is right to three digits, with half a value for that values are whole
		const z = 1.96
		place = int((float64(n) - 1 - z*math.Sqrt(float64(n))) / 2)
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
