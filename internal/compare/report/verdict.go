package report

import (
	"github.com/strandmp/strand/internal/compare/results"
)

// A Verdict says what can be seen of a difference.
type Verdict int

// Verdicts.
const (
	TooFew  Verdict = iota // runs to tell
	NoneNow                // a difference may be there, but is not to be seen
	Better
	Worse
	Failed // runs of one side: they might have been its slowest
)

// A Contrast is one variant beside another in a cell, or in two reports.
type Contrast struct {
	Name, Base       string // of variants
	Values, BaseLine Summary
	Ratio            Ratio // of Values to BaseLine
	Verdict          Verdict
}

// contrast compares a cell's runs of two variants.
func contrast(cell *results.Cell, m results.Metric, name, base string) Contrast {
	c := contrastOf(sampleOf(cell, name, m), sampleOf(cell, base, m), m)
	c.Name, c.Base = name, base
	return c
}

// A sample is what a variant's runs in a cell have measured, as far as they succeeded.
type sample struct {
	values []float64
	failed int
}

// none: no run was made.
func (s sample) none() bool { return len(s.values)+s.failed == 0 }

func sampleOf(cell *results.Cell, variant string, m results.Metric) sample {
	return sample{cell.Values(variant, m.Name), len(cell.Failures(variant))}
}

// contrastOf compares two samples. Where one of them lacks its runs that failed, which a
// bound of time does to the slowest, the others are no ground for a verdict.
func contrastOf(now, base sample, m results.Metric) Contrast {
	c := Contrast{Values: Summarize(now.values), BaseLine: Summarize(base.values), Ratio: RatioOf(now.values, base.values)}
	c.Verdict = c.Ratio.verdict(m.LessIsBetter)
	if now.failed+base.failed > 0 {
		c.Verdict = Failed
	}
	return c
}

func (r Ratio) verdict(lessIsBetter bool) Verdict {
	switch i := r.Interval; {
	case i.Level < enough:
		return TooFew
	case i.Low <= 1 && i.High >= 1:
		return NoneNow
	case (i.High < 1) == lessIsBetter:
		return Better
	}
	return Worse
}
