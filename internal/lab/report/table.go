package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A table has the runs of one workload, by the metric that the report is about.
type table struct {
	workload *results.Workload
	metric   results.Metric
	also     []results.Metric // of which it has the medians
	scale    scale
	scales   []scale // of also

	common  []condition // of all cells
	varying []string    // names of the conditions that tell cells apart
	base    string      // name of the variant that others are compared with
	rows    []row
}

// A row is one variant in one cell.
type row struct {
	cell *results.Cell
	head []string // the cell's varying conditions
	Contrast
	also []float64 // medians, 0 where there is none
	runs string    // how many, of how many
	note string    // why there is no result, or not of all runs

	// exceeded is, in seconds, what the median is above if half of the runs or more were not over within
	// the time limit; 0 if most were. A median of the others would hide that, and so would a ratio of the
	// others, of this variant or of the base (besideExceeded).
	exceeded       float64
	besideExceeded bool
	isBase         bool
	index          int // of the variant among all
}

// hasMedian tells whether the median of the runs that succeeded says what a row is about.
func (r *row) hasMedian() bool { return r.Values.N > 0 && r.exceeded == 0 }

// besides are metrics that a table has next to the headline.
var besides = map[results.WorkloadName][]string{
	results.PingPong: {results.RoundTrip},
	results.HOL:      {results.Delay50},
	results.NAS:      {results.Operations},
}

// tables makes a table for each workload of a report.
func tables(r *results.Report) []*table {
	var all []*table
	for i := range results.Workloads {
		w := &results.Workloads[i]
		if cells := cellsOf(r, w.Name); len(cells) > 0 {
			all = append(all, newTable(r, w, cells))
		}
	}
	return all
}

// baseOf is the variant that others are compared with: the first that can run.
func baseOf(r *results.Report) string {
	for _, v := range r.Variants {
		if v.Unable == "" {
			return v.Name
		}
	}
	return r.Variants[0].Name
}

func newTable(r *results.Report, w *results.Workload, cells []*results.Cell) *table {
	t := &table{workload: w, metric: r.MetricOf(w), base: baseOf(r)}
	for _, name := range besides[w.Name] {
		if m, ok := w.Metric(name); ok && m != t.metric {
			t.also = append(t.also, m)
		}
	}
	t.varying, t.common = split(cells)
	for _, cell := range cells {
		head := make([]string, 0, len(t.varying))
		for _, name := range t.varying {
			head = append(head, textOf(cell, name))
		}
		t.addCell(r, cell, head)
	}
	t.scale = scaleFor(t.metric.Unit, t.medians(func(r *row) float64 { return r.Values.Median }))
	for i, m := range t.also {
		t.scales = append(t.scales, scaleFor(m.Unit, t.medians(func(r *row) float64 { return r.also[i] })))
	}
	return t
}

// addCell adds a cell's rows: one for each variant that can run.
func (t *table) addCell(r *results.Report, cell *results.Cell, head []string) {
	if cell.Unable != "" {
		t.rows = append(t.rows, row{cell: cell, head: head, also: make([]float64, len(t.also)), note: "can not run: " + cell.Unable, isBase: true})
		return
	}
	for i := range r.Variants {
		if r.Variants[i].Unable == "" {
			t.rows = append(t.rows, t.row(r, cell, head, i))
		}
	}
}

// medians are those that there are.
func (t *table) medians(of func(*row) float64) []float64 {
	var values []float64
	for i := range t.rows {
		if v := of(&t.rows[i]); v > 0 {
			values = append(values, v)
		}
	}
	return values
}

func (t *table) row(r *results.Report, cell *results.Cell, head []string, index int) row {
	v := &r.Variants[index]
	out := row{cell: cell, head: head, Contrast: contrast(cell, t.metric, v.Name, t.base), isBase: v.Name == t.base, index: index}
	out.exceeded = exceeded(cell, v.Name, t.metric)
	out.besideExceeded = out.exceeded > 0 || exceeded(cell, t.base, t.metric) > 0
	for _, m := range t.also {
		median := 0.0
		if out.exceeded == 0 {
			median = stats.Median(cell.Values(v.Name, m.Name))
		}
		out.also = append(out.also, median)
	}
	failures := cell.Failures(v.Name)
	notes := []string{tooSlow(cell.Of(v.Name)), tooLate(cell, v.Name, t.metric)}
	if len(failures) > 0 {
		notes = append(notes, fmt.Sprintf("%d failed: %s", len(failures), failures[0]))
	}
	out.note = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
	switch good := out.Values.N; {
	case len(failures) > 0:
		out.runs = fmt.Sprint(good)
	case r.Finished.IsZero() && good < r.Runs:
		out.runs = fmt.Sprintf("%d of %d", good, r.Runs)
	default:
		out.runs = fmt.Sprint(good)
	}
	return out
}

// title says what the figures are.
func (t *table) title() string {
	way := "more is better"
	if t.metric.LessIsBetter {
		way = "less is better"
	}
	return fmt.Sprintf("%s: %s in %s, %s", t.workload.Title, t.metric.Text, t.scale.name, way)
}

// transport heads the column of variants' names.
const transport = "transport"

// heads are the names of the columns.
func (t *table) heads() []string {
	heads := append([]string{}, t.varying...)
	heads = append(heads, transport, "runs", "median", "interval")
	for i, m := range t.also {
		heads = append(heads, fmt.Sprintf("%s, %s", m.Text, t.scales[i].name))
	}
	if t.compares() {
		heads = append(heads, "ratio by round", "interval", "")
	}
	return heads
}

// compares tells whether there is more than one variant.
func (t *table) compares() bool {
	for i := range t.rows {
		if !t.rows[i].isBase {
			return true
		}
	}
	return false
}

// cells are a row's texts, for the columns that heads names.
func (t *table) cells(r *row) []string {
	cells := append([]string{}, r.head...)
	cells = append(cells, r.Name, r.runs)
	if limit := r.exceeded; limit > 0 {
		cells = append(cells, "> "+t.scale.text(limit), "")
	} else if r.Values.N == 0 {
		cells = append(cells, "–", "")
	} else {
		cells = append(cells, t.scale.text(r.Values.Median), between(shown(r.Values), t.scale.text))
	}
	for i, v := range r.also {
		if v == 0 {
			cells = append(cells, "")
		} else {
			cells = append(cells, t.scales[i].text(v))
		}
	}
	if t.compares() {
		cells = append(cells, r.ratioCells()...)
	}
	return cells
}

func (r *row) ratioCells() []string {
	switch {
	case r.isBase && r.Values.N > 0 && r.exceeded == 0:
		return []string{"1", "", ""}
	case r.isBase || r.Ratio.Value == 0:
		return []string{"", "", ""}
	case r.besideExceeded:
		return []string{"", "", r.Verdict.word()}
	}
	return []string{times(r.Ratio.Value), between(sure(r.Ratio), times), r.Verdict.word()}
}

// footnote says what the intervals are.
func (t *table) footnote() string {
	var medians, ratios, parts []string
	note := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for i := range t.rows {
		r := &t.rows[i]
		if l := shown(r.Values).Level; l > 0 {
			note(&medians, fmt.Sprintf("%s of %d runs", level(l), r.Values.N))
		}
		if l := sure(r.Ratio).Level; l > 0 && !r.isBase {
			note(&ratios, fmt.Sprintf("%s of %d rounds", level(l), r.Ratio.N))
		}
	}
	if len(medians) > 0 {
		parts = append(parts, "intervals of medians: "+strings.Join(medians, ", "))
	}
	if len(ratios) > 0 {
		parts = append(parts, "of ratios: "+strings.Join(ratios, ", "))
	}
	if t.compares() {
		parts = append(parts, "a ratio is the median of each round's own to "+t.base)
	}
	return upper(strings.Join(parts, "; "))
}

// unables are the variants that can not run, with the reason.
func unables(r *results.Report) []string {
	var all []string
	for _, v := range r.Variants {
		if v.Unable != "" {
			all = append(all, v.Name+" can not run: "+v.Unable)
		}
	}
	return all
}

// exceeded is what a median is above of which no more is known, where it is the run time that is compared: half of a variant's runs or
// more were not over within the time limit, and count with that. It is 0 if more than half were. Runs that failed otherwise say nothing.
func exceeded(c *results.Cell, variant string, m results.Metric) (bound float64) {
	values, late := withLimits(c, variant, m)
	if late == 0 || 2*late < len(values) {
		return 0
	}
	return stats.Median(values)
}

// summaryOf describes what the runs of a variant measured that did not fail. Run times that are above the time limit count for the median
// too, since they are the longest: without them who is too slow in some runs would seem quicker than who never is. How far an interval
// reaches is not known then.
func summaryOf(c *results.Cell, variant string, m results.Metric) stats.Summary {
	s := stats.Summarize(c.Values(variant, m.Name))
	if values, late := withLimits(c, variant, m); late > 0 && s.N > 0 {
		s.Median, s.Interval = stats.Median(values), stats.Interval{}
	}
	return s
}

// withLimits returns what a variant's runs measured. Of a run time that is above the time limit it has the limit; late is how many these are.
func withLimits(c *results.Cell, variant string, m results.Metric) (values []float64, late int) {
	values = c.Values(variant, m.Name)
	if m.Name != results.RunTime {
		return values, 0
	}
	for _, r := range c.Of(variant) {
		if r.Exceeded > 0 && r.Error != "" {
			late++
			values = append(values, r.Exceeded)
		}
	}
	return values, late
}
