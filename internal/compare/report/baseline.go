package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/compare/results"
)

// A change is one variant in one cell, then and now.
type change struct {
	Contrast
	table *table
	cell  *results.Cell
}

// changes are those of all cells that two reports have in common, and how many of the new
// one's the old one has not.
func changes(now, then *results.Report) (all []change, without int) {
	old := map[string]*results.Cell{}
	for i := range then.Cells {
		old[then.Cells[i].Key()] = &then.Cells[i]
	}
	for _, t := range tables(now) {
		for i := range t.rows {
			r := &t.rows[i]
			if r.Values.N == 0 {
				continue
			}
			before := old[r.cell.Key()]
			if before == nil || len(before.Values(r.Name, t.metric.Name)) == 0 {
				without++
				continue
			}
			c := contrastOf(r.cell.Values(r.Name, t.metric.Name), before.Values(r.Name, t.metric.Name), t.metric)
			c.Name = r.Name
			all = append(all, change{c, t, r.cell})
		}
	}
	return all, without
}

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
	b.WriteString(line(t.Caption, 1000) + "\n")
	for _, text := range aligned(rows) {
		b.WriteString("  " + strings.TrimRight(text, " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// againstBaseline makes the table of changes.
func againstBaseline(now, then *results.Report) *pageTable {
	all, without := changes(now, then)
	out := &pageTable{
		Heads:   []string{transport, "then", "now", "now ÷ then", "interval", ""},
		Figures: []bool{false, true, true, true, true},
		Caption: baselineCaption(now, then, all, without),
	}
	var before *results.Cell
	for _, c := range all {
		word := map[Verdict]string{TooFew: "too few runs", NoneNow: "no change seen", Better: "better", Worse: "worse"}[c.Verdict]
		unit := c.table.metric.Unit
		cells := []string{
			c.Name,
			quantity(unit, c.BaseLine.Median), quantity(unit, c.Values.Median), times(c.Ratio.Value), c.Ratio.interval().between(times), word,
		}
		row := pageRow{"", [...]string{TooFew: "few", NoneNow: "same", Better: "better", Worse: "worse"}[c.Verdict], cells, ""}
		if c.cell != before {
			row.Group = located(c.table.workload.Title+", "+c.table.metric.Text, c.cell, c.table.varying)
		}
		out.Rows = append(out.Rows, row)
		before = c.cell
	}
	return out
}

// baselineCaption sums changes up, and says what else has changed.
func baselineCaption(now, then *results.Report, all []change, without int) string {
	count := map[Verdict]int{}
	for _, c := range all {
		count[c.Verdict]++
	}
	text := fmt.Sprintf("Against the comparison of %s: of %d figures %d are better, %d worse, no change is seen in %d",
		then.Started.Format("2 January 2006, 15:04"), len(all), count[Better], count[Worse], count[NoneNow])
	if n := count[TooFew]; n > 0 {
		text += fmt.Sprintf(", too few runs to tell in %d", n)
	}
	if without > 0 {
		text += fmt.Sprintf("; %d have no counterpart there", without)
	}
	if other := otherwise(now, then); len(other) > 0 {
		text += ". Not the same then and now: " + strings.Join(other, ", ")
	}
	return text + "."
}

// otherwise names what the reports were not made with alike.
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
	return all
}
