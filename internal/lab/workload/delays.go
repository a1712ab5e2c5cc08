package workload

import (
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
)

// Delays are a distribution, in seconds. Quantiles are those of package stats.
type Delays struct {
	Count  int     `json:"count"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Worst  float64 `json:"worst"`

	// Quantiles are the least, then those of 1/20, 2/20, …, and the largest: enough to
	// draw the distribution. P99 and what follows it show its tail.
	Quantiles []float64 `json:"quantiles"`
}

// steps is how many parts quantiles cut a distribution into.
const steps = 20

func delaysOf(seconds []float64) Delays {
	sorted := slices.Sorted(slices.Values(seconds))
	at := func(share float64) float64 { return stats.Quantile(sorted, share) }
	d := Delays{Count: len(sorted), Median: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Worst: at(1)}
	for i := range steps + 1 {
		d.Quantiles = append(d.Quantiles, at(float64(i)/steps))
	}
	return d
}
