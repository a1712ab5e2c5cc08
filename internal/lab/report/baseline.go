package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A change is one variant in one cell, then and now. It has the values of both reports, where the
// base line's are those of then. Its ratio compares what the variant was beside the control now
// with what it was beside the control then.
type change struct {
	Contrast
	table *table
	cell  *results.Cell
	// What the medians are above, then and now, if no more is known of them.
	limitThen, limitNow float64
}

// changes returns the changes of all cells that both reports have, and how many cells of the new
// report the old one has not.
func changes(now, then *results.Report) (all []change, without int) {
	old := map[string]*results.Cell{}
	for i := range then.Cells {
		old[then.Cells[i].Key()] = &then.Cells[i]
	}
	control := controlOf(now, then)
	for _, t := range tables(now) {
		for i := range t.rows {
			r := &t.rows[i]
			if len(r.cell.Of(r.Name)) == 0 {
				continue
			}
			before := old[r.cell.Key()]
			if before == nil || len(before.Of(r.Name)) == 0 {
				without++
				continue
			}
			all = append(all, change{
				changeOf(r.cell, before, t.metric, r.Name, control), t, r.cell, exceeded(before, r.Name, t.metric), exceeded(r.cell, r.Name, t.metric),
			})
		}
	}
	return all, without
}

// controlOf names the control, the transport by which two comparisons are held against each
// other. It is the one that others are compared with now, if the old report has it too with the
// same parameters. What has changed in the control is the machine's doing, or the day's. "" means
// that there is no control, or that the two did not measure the same.
func controlOf(now, then *results.Report) string {
	name := baseOf(now)
	is, was := now.Variant(name), then.Variant(name)
	if was == nil || was.Unable != "" || is.BTL != was.BTL || !maps.Equal(is.Params, was.Params) || now.Format != then.Format {
		return ""
	}
	return name
}

// changeOf compares a variant's runs in a cell with those in the same cell of another report.
func changeOf(now, then *results.Cell, m results.Metric, name, control string) Contrast {
	c := Contrast{
		Name: name, Base: control, Verdict: NoControl,
		Values: summaryOf(now, name, m), BaseLine: summaryOf(then, name, m),
	}
	switch control {
	case "":
		return c
	case name:
		c.Verdict = Control
		return c
	}
	c.Ratio = stats.OfMedians(besideControl(now, m, name, control), besideControl(then, m, name, control))
	c.Verdict = verdictOf(c.Ratio, m.LessIsBetter)
	for _, cell := range []*results.Cell{now, then} {
		if doubt, doubtful := doubtOf(cell, m, name, control); doubtful {
			c.Verdict = doubt
		}
	}
	return c
}

// besideControl returns by how much a variant exceeded the control, round by round; nil if any
// value is 0.
func besideControl(cell *results.Cell, m results.Metric, name, control string) []float64 {
	values, base := cell.Pairs(name, control, m.Name)
	ratios := make([]float64, 0, len(values))
	for i := range values {
		if !(values[i] > 0 && base[i] > 0) {
			return nil
		}
		ratios = append(ratios, values[i]/base[i])
	}
	return ratios
}

// longestCaption bounds what a terminal shows of a caption.
const longestCaption = 4000

// WriteBaseline writes, for a terminal, what has changed from one comparison to another.
func WriteBaseline(out io.Writer, now, then *results.Report) error {
	t := againstBaseline(now, then)
	rows := [][]string{append([]string{"cell"}, t.Heads...)}
	for _, r := range t.Rows {
		rows = append(rows, append([]string{r.Group}, r.Cells...))
	}
	left := map[int]bool{0: true, 1: true, len(t.Heads): true}
	padLeft(rows, left)
	var b strings.Builder
	b.WriteString(line(t.Caption, longestCaption) + "\n")
	for _, text := range aligned(rows) {
		b.WriteString("  " + strings.TrimRight(text, " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// againstBaseline makes the table of changes.
func againstBaseline(now, then *results.Report) *pageTable {
	all, without := changes(now, then)
	beside := "beside the control"
	if control := controlOf(now, then); control != "" {
		beside = "beside " + control
	}
	out := &pageTable{
		Heads:   []string{transport, "then", "now", "now ÷ then", beside, "interval", ""},
		Figures: []bool{false, true, true, true, true, true},
		Caption: baselineCaption(now, then, all, without),
	}
	var before *results.Cell
	for _, c := range all {
		unit := c.table.metric.Unit
		cells := []string{
			c.Name, medianText(c.BaseLine, unit, c.limitThen), medianText(c.Values, unit, c.limitNow), c.quotient(), ratioText(c.Ratio), between(sure(c.Ratio), times), c.word(),
		}
		row := pageRow{"", c.Verdict.class(), cells, ""}
		if c.cell != before {
			row.Group = located(c.table.workload.Title+", "+c.table.metric.Text, c.cell, c.table.varying)
		}
		out.Rows = append(out.Rows, row)
		before = c.cell
	}
	return out
}

// word is for a table.
func (c *change) word() string {
	if c.Verdict == NoneNow {
		return "no change seen"
	}
	return c.Verdict.word()
}

// SumChanges adds to the summaries of a report, which [Sum] has made, what has changed since another one.
func SumChanges(now, then *results.Report) {
	all, _ := changes(now, then)
	for _, c := range all {
		for i := range c.cell.Summaries {
			s := &c.cell.Summaries[i]
			if s.Variant != c.Name || s.Metric != c.table.metric.Name {
				continue
			}
			s.Change = &results.Change{Then: c.BaseLine.Median, RatioInterval: asResult(sure(c.Ratio)), Verdict: c.word()}
			if c.Ratio.Value > 0 {
				s.Change.Ratio = &c.Ratio.Value
			}
		}
	}
}

// medianText writes a median; "–" where no run has succeeded. Where nothing is known of it but a limit that it is above, that is written.
func medianText(s stats.Summary, unit results.Unit, limit float64) string {
	switch {
	case limit > 0:
		return "> " + quantity(unit, limit)
	case s.N == 0:
		return "–"
	}
	return quantity(unit, s.Median)
}

// ratioText writes a ratio; "–" where there is none.
func ratioText(r stats.Ratio) string {
	if r.Value == 0 {
		return "–"
	}
	return times(r.Value)
}

// quotient is the median of now divided by that of then; "–" where one of them is missing, or 0.
func (c *change) quotient() string {
	if !(c.Values.Median > 0 && c.BaseLine.Median > 0) || c.limitThen > 0 || c.limitNow > 0 {
		return "–"
	}
	return times(c.Values.Median / c.BaseLine.Median)
}

// baselineCaption sums changes up, and says what else has changed.
func baselineCaption(now, then *results.Report, all []change, without int) string {
	count := map[Verdict]int{}
	for _, c := range all {
		count[c.Verdict]++
	}
	text := fmt.Sprintf("Against the comparison of %s", then.Started.Format("2 January 2006, 15:04"))
	judged := count[Better] + count[Worse] + count[NoneNow] + count[TooFew] + count[Failed] + count[Late] + count[Slow]
	switch control := controlOf(now, then); {
	case now.Format != then.Format:
		text += fmt.Sprintf(": no verdict, since the two did not measure the same (format %d, now %d)", then.Format, now.Format)
	case control == "":
		text += fmt.Sprintf(": no verdict, since nothing tells a change of the machine's from one of the transports. It takes a control that has not changed: %s with the same parameters in both", baseOf(now))
	default:
		text += fmt.Sprintf(", each transport beside %s, the control, of then and of now: of %d figures %d are better, %d worse, no change is seen in %d",
			control, judged, count[Better], count[Worse], count[NoneNow])
	}
	if n := count[TooFew]; n > 0 {
		text += fmt.Sprintf(", too few runs to tell in %d", n)
	}
	if n := count[Failed]; n > 0 {
		text += fmt.Sprintf(", runs failed in %d", n)
	}
	if n := count[Late]; n > 0 {
		text += fmt.Sprintf(", the emulator was late in %d", n)
	}
	if n := count[Slow]; n > 0 {
		text += fmt.Sprintf(", the machine was too slow in %d", n)
	}
	if without > 0 {
		text += fmt.Sprintf("; %d have no counterpart there", without)
	}
	if other := otherwise(now, then); len(other) > 0 {
		text += ". Not the same then and now: " + strings.Join(other, ", ")
	}
	return text + "."
}

// otherwise says in what the two reports were made differently.
func otherwise(now, then *results.Report) []string {
	var all []string
	before := machine(then)
	for _, c := range machine(now) {
		if c.Name == "runs" || slices.Contains(before, c) {
			continue
		}
		i := slices.IndexFunc(before, func(b condition) bool { return b.Name == c.Name })
		if i < 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s (%s, now %s)", c.Name, before[i].Text, c.Text))
	}
	all = append(all, variantsOtherwise(now, then, func(v *results.Variant) map[string]string { return v.Params })...)
	return append(all, variantsOtherwise(now, then, func(v *results.Variant) map[string]string { return v.Facts })...)
}

// variantsOtherwise says in what the variants of both reports differ by the map that of returns,
// and which variants those are. It is needed since neither a variant's name nor a cell's key has
// what other flags gave the variant.
func variantsOtherwise(now, then *results.Report, of func(*results.Variant) map[string]string) []string {
	whose := map[string][]string{}
	for i := range now.Variants {
		v := &now.Variants[i]
		before := then.Variant(v.Name)
		if before == nil || before.Unable != "" || v.Unable != "" {
			continue
		}
		for _, text := range unequal(of(before), of(v)) {
			whose[text] = append(whose[text], v.Name)
		}
	}
	var all []string
	for _, text := range slices.Sorted(maps.Keys(whose)) {
		all = append(all, fmt.Sprintf("%s of %s", text, strings.Join(whose[text], " and ")))
	}
	return all
}

// unequal says in what two maps differ.
func unequal(then, now map[string]string) []string {
	both := maps.Clone(now)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, then)
	var all []string
	for name := range both {
		if then[name] != now[name] {
			all = append(all, fmt.Sprintf("%s (%s, now %s)", name, cmp.Or(then[name], "not set"), cmp.Or(now[name], "not set")))
		}
	}
	return all
}
