package report

import "github.com/strandmp/strand/internal/compare/results"

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
		Variant: name, Metric: m.Name, Runs: c.Values.N, Median: c.Values.Median, Interval: c.Values.interval().asResult(),
	}
	if sizes := windowSizes(cell.Good(name)); len(sizes) > 0 {
		s.Window = Summarize(sizes).Median
	}
	if name != base && c.Ratio.Value > 0 {
		s.Ratio, s.RatioInterval = &c.Ratio.Value, c.Ratio.interval().asResult()
	}
	return s
}

// asResult is nil for an interval that is none.
func (i Interval) asResult() *results.Interval {
	if i.Level == 0 {
		return nil
	}
	return &results.Interval{Low: i.Low, High: i.High, Confidence: i.Level}
}
