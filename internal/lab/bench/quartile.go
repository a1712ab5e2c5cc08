package bench

import (
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
)

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
		LowerQuartile: stats.Quantile(sorted, 0.25),
		Median:        stats.Quantile(sorted, 0.5),
		UpperQuartile: stats.Quantile(sorted, 0.75),
		Min:           sorted[0],
		Max:           sorted[len(sorted)-1],
		Blocks:        len(sorted),
	}
}

// Spread says how much the blocks differ from each other: by which share the
// median exceeds the lower quartile.
func (s Summary) Spread() float64 { return s.Median/s.LowerQuartile - 1 }
