package bench

import (
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
)

// A Summary describes the times of one contender's blocks, in microseconds a message.
type Summary struct {
	LowerQuartile float64 `json:"lower_quartile_us"`
	Median        float64 `json:"median_us"`
	UpperQuartile float64 `json:"upper_quartile_us"`
	Min           float64 `json:"min_us"`
	Max           float64 `json:"max_us"`
	Blocks        int     `json:"blocks"`
	// Processor is the median of the processor time that all processes took for a message, in
	// microseconds; 0: not known.
	Processor float64 `json:"processor_us,omitempty"`
}

// summarize describes a sample, which must not be empty and is left as it is.
func summarize(sample []block) Summary {
	times, processor := make([]float64, len(sample)), make([]float64, len(sample))
	for i, b := range sample {
		times[i], processor[i] = b.time, b.processor
	}
	slices.Sort(times)
	return Summary{
		LowerQuartile: stats.Quantile(times, 0.25),
		Median:        stats.Quantile(times, 0.5),
		UpperQuartile: stats.Quantile(times, 0.75),
		Min:           times[0],
		Max:           times[len(times)-1],
		Blocks:        len(times),
		Processor:     stats.Median(processor),
	}
}

// Spread says how much the blocks differ from each other: by which share the
// median exceeds the lower quartile.
func (s Summary) Spread() float64 { return s.Median/s.LowerQuartile - 1 }
