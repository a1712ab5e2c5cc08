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
	c := contrastOf(cell.Values(name, m.Name), cell.Values(base, m.Name), m)
	c.Name, c.Base = name, base
	return c
}

func contrastOf(values, base []float64, m results.Metric) Contrast {
	c := Contrast{Values: Summarize(values), BaseLine: Summarize(base), Ratio: RatioOf(values, base)}
	c.Verdict = c.Ratio.verdict(m.LessIsBetter)
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
