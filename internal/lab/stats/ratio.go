package stats

import (
	"math"
	"slices"
)

// A Ratio says by how much one sample exceeds another.
type Ratio struct {
	Value    float64 // 0: there is none
	N        int     // pairs, or values of the smaller sample
	Interval Interval
}

// ByRound returns by how much values exceed those of a base that were measured with them, number
// by number: the median of the rounds' ratios, with its interval. For an even number of rounds it
// lies in the middle of the logarithms of two ratios. A true median of 1 means that either is
// ahead in half of the rounds. Values must be above 0, else there is no ratio.
func ByRound(values, base []float64) Ratio {
	n := min(len(values), len(base))
	ratios := make([]float64, 0, n)
	for i := range n {
		if !(values[i] > 0 && base[i] > 0) {
			return Ratio{}
		}
		ratios = append(ratios, values[i]/base[i])
	}
	if n == 0 {
		return Ratio{}
	}
	slices.Sort(ratios)
	low, high := ratios[(n-1)/2], ratios[n/2]
	return Ratio{Value: low * math.Sqrt(high/low), N: n, Interval: intervalOf(ratios)}
}

// OfMedians returns by how much the median of a sample exceeds that of another, which has nothing
// to do with it. The interval reaches from the least that one median may be, divided by the most
// that the other may be, to the reverse. It misses only if a median is outside of its own interval
// and the other sample does not make up for that. So a miss is no more likely than that of the
// less certain of both intervals. Values must be above 0, else there is no ratio.
func OfMedians(values, base []float64) Ratio {
	if len(values) == 0 || len(base) == 0 || slices.Min(values) <= 0 || slices.Min(base) <= 0 {
		return Ratio{}
	}
	v, b := Summarize(values), Summarize(base)
	r := Ratio{Value: v.Median / b.Median, N: min(v.N, b.N)}
	if level := min(v.Interval.Level, b.Interval.Level); level > 0 {
		r.Interval = Interval{v.Interval.Low / b.Interval.High, v.Interval.High / b.Interval.Low, level}
	}
	return r
}
