package report_test

import (
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand/internal/lab/results"
)

// exponential are times with a long tail.
type exponential struct{ *rand.Rand }

func newExponential(seed uint64) exponential { return exponential{rand.New(rand.NewPCG(seed, 0))} }

// distribution is that of some times: each hundredth, and the tail.
func distribution(seconds []float64) results.Distribution {
	shares := []float64{0.992, 0.994, 0.995, 0.996, 0.998, 0.999, 0.9995, 0.9999, 1}
	for i := range 100 {
		shares = append(shares, float64(i)/100)
	}
	slices.Sort(shares)
	d := results.Distribution{Name: "all", Count: len(seconds)}
	sorted := slices.Sorted(slices.Values(seconds))
	for _, share := range shares {
		d.Quantiles = append(d.Quantiles, results.Quantile{Share: share, Seconds: sorted[int(share*float64(len(sorted)-1))]})
	}
	return d
}
