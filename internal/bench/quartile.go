package bench

import "slices"

// A Summary describes the times of one pair's blocks, in microseconds a message.
type Summary struct {
	LowerQuartile float64 `json:"lower_quartile_us"`
	Median        float64 `json:"median_us"`
	UpperQuartile float64 `json:"upper_quartile_us"`
	Min           float64 `json:"min_us"`
	Max           float64 `json:"max_us"`
	Blocks        int     `json:"blocks"`
}

// summarize describes a sample, which must not be empty and is left as it is.
func summarize(sample []float64) Summary {
	sorted := slices.Sorted(slices.Values(sample))
	return Summary{
		LowerQuartile: quantile(sorted, 0.25),
		Median:        quantile(sorted, 0.5),
		UpperQuartile: quantile(sorted, 0.75),
		Min:           sorted[0],
		Max:           sorted[len(sorted)-1],
		Blocks:        len(sorted),
	}
}

// quantile interpolates between the two nearest of a sorted sample (type 7 of
// Hyndman and Fan, what most statistics programs do).
func quantile(sorted []float64, q float64) float64 {
	place := q * float64(len(sorted)-1)
	below := int(place)
	if below+1 == len(sorted) {
		return sorted[below]
	}
	part := place - float64(below)
	return sorted[below]*(1-part) + sorted[below+1]*part
}

// Spread says how much the blocks differ from each other: by which share the
// median exceeds the lower quartile.
func (s Summary) Spread() float64 { return s.Median/s.LowerQuartile - 1 }
