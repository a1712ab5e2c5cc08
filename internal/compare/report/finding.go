package report

import (
	"fmt"
	"strings"

	"github.com/strandmp/strand/internal/compare/results"
)

// Finding returns what a report says, in one sentence.
func Finding(r *results.Report) string {
	count := map[Verdict]int{}
	var best *finding
	all := findings(r)
	for i := range all {
		f := &all[i]
		count[f.Verdict]++
		if f.seen() && (best == nil || f.factor() > best.factor()) {
			best = f
		}
	}
	if len(all) == 0 {
		if over, total := r.Progress(); over < total || total == 0 {
			return ""
		}
		return "There is nothing to compare: no two transports have runs that succeeded."
	}
	rest := counted(count, len(all))
	if best == nil {
		return fmt.Sprintf("No difference between transports can be seen (%s).", rest)
	}
	return fmt.Sprintf("Largest difference: %s: %s; %s.", best.place(), best.claim(), rest)
}

// counted says how the comparisons ended.
func counted(count map[Verdict]int, all int) string {
	var parts []string
	for _, c := range []struct {
		v    Verdict
		text string
	}{{Better, "better than the first transport in %d"}, {Worse, "worse in %d"}, {NoneNow, "no difference seen in %d"}, {TooFew, "too few runs to tell in %d"}} {
		if count[c.v] > 0 {
			parts = append(parts, fmt.Sprintf(c.text, count[c.v]))
		}
	}
	noun := "comparisons"
	if all == 1 {
		noun = "comparison"
	}
	return fmt.Sprintf("of %d %s: %s", all, noun, strings.Join(parts, ", "))
}

// A finding is what one cell tells of two variants.
type finding struct {
	Contrast
	workload *results.Workload
	metric   results.Metric
	where    string // the cell, by what tells it apart from others; "" if there is but one
}

// findings are all of a report's, in the order of its tables.
func findings(r *results.Report) []finding {
	var all []finding
	for _, t := range tables(r) {
		all = append(all, t.findings()...)
	}
	return all
}

func (t *table) findings() []finding {
	var all []finding
	for i := range t.rows {
		row := &t.rows[i]
		if row.isBase || row.Ratio.Value == 0 {
			continue
		}
		all = append(all, finding{row.Contrast, t.workload, t.metric, textsOf(row.cell, t.varying)})
	}
	return all
}

// place says where something was found.
func (f *finding) place() string {
	if f.where == "" {
		return strings.ToLower(f.workload.Title)
	}
	return strings.ToLower(f.workload.Title) + ", " + f.where
}

// seen tells whether a difference is.
func (f *finding) seen() bool { return f.Verdict == Better || f.Verdict == Worse }

// factor is by how much one is more than the other, at least 1.
func (f *finding) factor() float64 { return max(f.Ratio.Value, 1/f.Ratio.Value) }

// sentence says what was found, with the figures that it stands on.
func (f *finding) sentence() string {
	text := fmt.Sprintf("%s (ratio %s%s).", f.claim(), times(f.Ratio.Value), f.interval())
	if f.where != "" {
		return upper(f.where) + ": " + text
	}
	if f.seen() {
		return text // begins with a variant's name
	}
	return upper(text)
}

// claim is the core of it.
func (f *finding) claim() string {
	medians := fmt.Sprintf("%s against %s", quantity(f.metric.Unit, f.Values.Median), quantity(f.metric.Unit, f.BaseLine.Median))
	switch f.Verdict {
	case TooFew:
		return fmt.Sprintf("too few runs to tell %s from %s: %s %s", f.Name, f.Base, f.metric.Text, medians)
	case NoneNow:
		return fmt.Sprintf("no difference can be seen between %s and %s: %s %s", f.Name, f.Base, f.metric.Text, medians)
	}
	better := f.Name
	if f.Verdict == Worse {
		better = f.Base
	}
	return fmt.Sprintf("%s is better, the %s of %s is %s: %s", better, f.metric.Text, f.Name, f.amount(), medians)
}

// amount says how one figure relates to the other.
func (f *finding) amount() string {
	ratio := f.Ratio.Value
	switch {
	case ratio >= 2:
		return fmt.Sprintf("%s times that of %s", times(ratio), f.Base)
	case ratio >= 1:
		return fmt.Sprintf("%.0f %% more than that of %s", max(1, (ratio-1)*100), f.Base)
	case ratio > 0.5:
		return fmt.Sprintf("%.0f %% less than that of %s", max(1, (1-ratio)*100), f.Base)
	}
	return fmt.Sprintf("1/%s of that of %s", times(1/ratio), f.Base)
}

// interval is the ratio's.
func (f *finding) interval() string {
	i := f.Ratio.interval()
	if i.Level == 0 {
		return ", of too few runs for an interval"
	}
	return fmt.Sprintf(", %s interval %s", level(i.Level), i.between(times))
}

// upper makes a text's first letter a capital.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
