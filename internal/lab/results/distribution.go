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

// A Quantile is the delay that a share of all is below: package stats says how exactly.
type Quantile struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
}

// At returns the quantile of a share. Between two known quantiles it is on the line that joins
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
