package results

import "slices"

// A Distribution is of delays.
type Distribution struct {
	Name string `json:"name"` // "all", or "tag 3"
	// Count is of how many.
	Count int `json:"count"`
	// Quantiles are by rising Share; so then are their Seconds.
	Quantiles []Quantile `json:"quantiles"`
}

// A Quantile is the delay that a share of all does not exceed.
type Quantile struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
}

// Shares of the quantiles of a Distribution.
var (
	// Fine are for a curve: each hundredth, and the tail, where transports differ.
	Fine = fine()
	// Coarse are for parts of which there are many.
	Coarse = []float64{0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}
)

func fine() []float64 {
	shares := make([]float64, 0, 120)
	for i := range 100 {
		shares = append(shares, float64(i)/100)
	}
	return append(shares, 0.992, 0.994, 0.995, 0.996, 0.998, 0.999, 0.9995, 0.9999, 1)
}

// Distribute describes a sample of seconds, which it leaves as it is.
func Distribute(name string, seconds, shares []float64) Distribution {
	d := Distribution{Name: name, Count: len(seconds)}
	if len(seconds) == 0 {
		return d
	}
	sorted := slices.Sorted(slices.Values(seconds))
	for _, share := range shares {
		d.Quantiles = append(d.Quantiles, Quantile{share, sorted[int(share*float64(len(sorted)-1))]})
	}
	return d
}

// At returns the quantile of a share, between two that are known on the line that joins
// them. Without any it is 0.
func (d Distribution) At(share float64) float64 {
	i, found := slices.BinarySearchFunc(d.Quantiles, share, func(q Quantile, share float64) int {
		switch {
		case q.Share < share:
			return -1
		case q.Share > share:
			return 1
		}
		return 0
	})
	switch {
	case len(d.Quantiles) == 0:
		return 0
	case found || i == 0:
		return d.Quantiles[i].Seconds
	case i == len(d.Quantiles):
		return d.Quantiles[i-1].Seconds
	}
	a, b := d.Quantiles[i-1], d.Quantiles[i]
	part := (share - a.Share) / (b.Share - a.Share)
	return min(a.Seconds+part*(b.Seconds-a.Seconds), b.Seconds)
}
