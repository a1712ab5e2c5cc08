package results

// A Summary is what the runs of one variant in one cell say together about one metric.
type Summary struct {
	Variant string `json:"variant"`
	Metric  string `json:"metric"`
	Runs    int    `json:"runs"` // that did not fail
	// Median is of these and, where it is the run time, of those that were not over within the time limit, which count with that.
	Median float64 `json:"median"`
	// MedianIsAbove says that half of the runs or more were not over: the true median is above Median.
	MedianIsAbove bool `json:"median_is_above,omitzero"`
	// Interval is the median's, nil with too few runs, and where some were not over.
	Interval *Interval `json:"interval,omitzero"`

	// Ratio says by how much the values exceed those of the first variant that can run: the
	// median of the rounds' ratios; nil if this is the first one, or it has none.
	Ratio         *float64  `json:"ratio,omitzero"`
	RatioInterval *Interval `json:"ratio_interval,omitzero"` // nil with too few runs
	// Verdict is what the tables say of the ratio: better, worse, or why neither is said. "" where there is no ratio.
	Verdict string `json:"verdict,omitzero"`

	// Change is what has changed since an earlier comparison, in what is written with a base line; nil where that lacks the cell.
	Change *Change `json:"change,omitzero"`

	// Window is the congestion window of all connections of rank 0 together, in bytes:
	// the median of all samples of all runs that did not fail. 0 if it is not known.
	Window float64 `json:"window,omitzero"`
}

// A Change is a variant beside itself in an earlier comparison.
type Change struct {
	Then float64 `json:"then"` // the median
	// Ratio is what the variant is beside the control to what it was: nil where there is no such ratio.
	Ratio         *float64  `json:"ratio,omitzero"`
	RatioInterval *Interval `json:"ratio_interval,omitzero"` // nil with too few runs
	Verdict       string    `json:"verdict"`
}

// An Interval has a true value in it with a chance of Confidence.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}
