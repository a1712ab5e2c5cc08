package report

import (
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// Sum fills in the summaries of a report's cells.
func Sum(r *results.Report) {
	for i := range r.Cells {
		cell := &r.Cells[i]
		cell.Summaries = nil
		for _, v := range r.Variants {
			for _, m := range cell.Workload.Workload().Metrics {
				if s := sum(cell, m, v.Name, baseOf(r)); s.Runs > 0 {
					cell.Summaries = append(cell.Summaries, s)
				}
			}
		}
	}
}

func sum(cell *results.Cell, m results.Metric, name, base string) results.Summary {
	c := contrast(cell, m, name, base)
	s := results.Summary{
		Variant: name, Metric: m.Name, Runs: c.Values.N, Median: c.Values.Median, Interval: asResult(shown(c.Values)),
		MedianIsAbove: exceeded(cell, name, m) > 0,
	}
	if sizes := windowSizes(cell.Good(name)); len(sizes) > 0 {
		s.Window = stats.Median(sizes)
	}
	if name != base && c.Ratio.Value > 0 {
		s.Ratio, s.RatioInterval, s.Verdict = &c.Ratio.Value, asResult(sure(c.Ratio)), c.Verdict.word()
	}
	return s
}

// asResult is nil for an interval that is none.
func asResult(i stats.Interval) *results.Interval {
	if i.Level == 0 {
		return nil
	}
	return &results.Interval{Low: i.Low, High: i.High, Confidence: i.Level}
}
