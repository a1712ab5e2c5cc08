package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
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
			is := sampleOf(r.cell, r.Name, t.metric)
			if is.none() {
				continue
			}
			before := old[r.cell.Key()]
			if before == nil {
				without++
				continue
			}
			was := sampleOf(before, r.Name, t.metric)
			if was.none() {
				without++
				continue
			}
			c := contrastOf(is, was, t.metric)
			c.Name = r.Name
			all = append(all, change{c, t, r.cell})
		}
	}
	return all, without
}

// longestCaption bounds what a terminal shows of it.
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
	out := &pageTable{
		Heads:   []string{transport, "then", "now", "now ÷ then", "interval", ""},
		Figures: []bool{false, true, true, true, true},
		Caption: baselineCaption(now, then, all, without),
	}
	var before *results.Cell
	for _, c := range all {
		word := c.Verdict.word()
		if c.Verdict == NoneNow {
			word = "no change seen"
		}
		unit := c.table.metric.Unit
		cells := []string{
			c.Name,
			c.BaseLine.median(unit), c.Values.median(unit), c.ratio(), c.Ratio.interval().between(times), word,
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

// median writes it; "–" where no run has succeeded.
func (s Summary) median(unit results.Unit) string {
	if s.N == 0 {
		return "–"
	}
	return quantity(unit, s.Median)
}

// ratio writes it; "–" where there is none.
func (c *Contrast) ratio() string {
	if c.Ratio.Value == 0 {
		return "–"
	}
	return times(c.Ratio.Value)
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
	if n := count[Failed]; n > 0 {
		text += fmt.Sprintf(", runs failed in %d", n)
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
	all = append(all, variantsOtherwise(now, then, func(v *results.Variant) map[string]string { return v.Params })...)
	return append(all, variantsOtherwise(now, then, func(v *results.Variant) map[string]string { return v.Facts })...)
}

// variantsOtherwise names what variants of both reports had in each, with those that it is
// of: neither a variant's name nor a cell's key says what it was given by other flags.
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

// unequal says what is not the same in two maps.
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
