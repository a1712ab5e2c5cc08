package stats

import (
	"math"
	"slices"
)

// Quantile returns what a share of a sorted sample is below, on the line between the two values
// next to it: type 7 of Hyndman and Fan (1996), which is what most statistics programs mean. It
// is 0 for an empty sample, the least for a share of 0 or less and the largest for 1 or more.
func Quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	below, part := Place(len(sorted), share)
	if part == 0 {
		return sorted[below]
	}
	low, high := sorted[below], sorted[below+1]
	return min(low+part*(high-low), high) // which never falls as share rises, rounded or not
}

// Place is where a quantile lies among n sorted values: at the value number below, counted from
// 0, and from there by part of the way to the next one.
func Place(n int, share float64) (below int, part float64) {
	place := min(max(share, 0), 1) * float64(n-1)
	const rounding = 1e-9 // 0.55·100 is a little more than 55
	if near := math.Round(place); math.Abs(place-near) < rounding {
		return int(near), 0
	}
	return int(place), place - math.Floor(place)
}

// Median is of a sample in any order, which it leaves as it is.
func Median(values []float64) float64 {
	return Quantile(slices.Sorted(slices.Values(values)), 0.5)
}
