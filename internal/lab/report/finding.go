package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
)

// Finding returns what a report says, in one sentence.
func Finding(r *results.Report) string {
	count := map[Verdict]int{}
	var best *finding
	var chance float64
	compared := false
	all := findings(r)
	for i := range all {
		f := &all[i]
		count[f.Verdict]++
		chance += f.byChance()
		compared = compared || f.Ratio.Value > 0
		if f.seen() && (best == nil || f.factor() > best.factor()) {
			best = f
		}
	}
	if !compared {
		if r.Finished.IsZero() {
			return ""
		}
		if able := slices.DeleteFunc(slices.Clone(r.Variants), func(v results.Variant) bool { return v.Unable != "" }); len(able) == 1 {
			return fmt.Sprintf("There is nothing to compare: no other transport ran beside %s.", baseOf(r))
		}
		if bothMeasured(r) {
			return fmt.Sprintf("There is nothing to compare: in each cell %s or the other transport measured 0 in some round, and there is no ratio to that.", baseOf(r))
		}
		return fmt.Sprintf("There is nothing to compare: in no cell do both %s and another transport have runs that succeeded.", baseOf(r))
	}
	rest := outcome(count, baseOf(r))
	if best == nil {
		return fmt.Sprintf("No difference between transports can be seen in %s (%s).", comparisons(len(all)), rest)
	}
	return fmt.Sprintf("%s: %s; this is the largest difference seen in %s (%s; %s).",
		upper(best.place()), best.claim(), comparisons(len(all)), rest, chanceText(chance))
}

// bothMeasured tells whether in some cell both the first transport and another one have runs of one round that succeeded.
func bothMeasured(r *results.Report) bool {
	for _, t := range tables(r) {
		for i := range t.rows {
			row := &t.rows[i]
			if values, _ := row.cell.Pairs(row.Name, row.Base, t.metric.Name); !row.isBase && len(values) > 0 {
				return true
			}
		}
	}
	return false
}

// byChance is how likely a comparison of what does not differ shows a difference.
func (f *finding) byChance() float64 {
	if f.Verdict != Better && f.Verdict != Worse && f.Verdict != NoneNow {
		return 0
	}
	return 1 - f.Ratio.Interval.Level
}

// chanceText says how many differences chance would show if there were none: the largest of
// many is more easily due to it than one by itself.
func chanceText(expected float64) string {
	if expected < 0.5 {
		return "chance alone would show fewer than 1"
	}
	return fmt.Sprintf("chance alone would show about %.0f", expected)
}

func comparisons(n int) string {
	if n == 1 {
		return "1 comparison"
	}
	return fmt.Sprintf("%d comparisons", n)
}

// outcome says how comparisons with a transport ended.
func outcome(count map[Verdict]int, base string) string {
	var parts []string
	for _, c := range []struct {
		v    Verdict
		text string
	}{{Better, "better than " + base}, {Worse, "worse than " + base}, {NoneNow, "no difference seen"}, {TooFew, "too few runs to tell"}, {Failed, "runs failed"}, {Late, "emulator late"}, {Slow, "machine too slow"}} {
		if count[c.v] > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", c.text, count[c.v]))
		}
	}
	return strings.Join(parts, ", ")
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
		if row.isBase || row.Ratio.Value == 0 && !row.Verdict.doubtful() {
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
	text := f.claim() + "."
	if f.Ratio.Value > 0 {
		text = fmt.Sprintf("%s (ratio %s%s).", f.claim(), times(f.Ratio.Value), f.interval())
	}
	switch {
	case f.where != "":
		return "With " + f.where + ", " + text
	case f.seen():
		return text // begins with a variant's name
	}
	return upper(text)
}

// claim is the core of it.
func (f *finding) claim() string {
	medians := fmt.Sprintf("%s against %s", quantity(f.metric.Unit, f.Values.Median), quantity(f.metric.Unit, f.BaseLine.Median))
	switch f.Verdict {
	case TooFew:
		return fmt.Sprintf("too few runs tell %s from %s: %s, medians %s", f.Name, f.Base, f.metric.Text, medians)
	case NoneNow:
		return fmt.Sprintf("no difference can be seen between %s and %s: %s, medians %s", f.Name, f.Base, f.metric.Text, medians)
	case Late:
		return fmt.Sprintf("the emulated network was late, so that nothing can be said of %s and %s%s", f.Name, f.Base, f.ofOthers(medians))
	case Slow:
		return fmt.Sprintf("the machine was too slow for the emulated network, so that nothing can be said of %s and %s%s", f.Name, f.Base, f.ofOthers(medians))
	case Failed:
		return fmt.Sprintf("runs failed, so that nothing can be said of %s and %s%s", f.Name, f.Base, f.ofOthers(medians))
	}
	return fmt.Sprintf("%s is %s than %s, its %s is round by round %s; medians %s", f.Name, f.Verdict.word(), f.Base, f.metric.Text, amount(f.Ratio.Value), medians)
}

// ofOthers adds what is known by the runs that did not fail, if there are such of both.
func (f *finding) ofOthers(medians string) string {
	if f.Ratio.Value == 0 {
		return ""
	}
	if f.Verdict == Late || f.Verdict == Slow {
		return fmt.Sprintf(": %s, medians %s", f.metric.Text, medians)
	}
	return fmt.Sprintf(": %s as far as it is known, medians %s", f.metric.Text, medians)
}

// amount says how one figure relates to another.
func amount(ratio float64) string {
	switch {
	case ratio >= 2:
		return times(ratio) + " times that"
	case ratio >= 1:
		return roughly((ratio-1)*100) + " % more"
	case ratio > 0.2:
		return roughly((1-ratio)*100) + " % less"
	}
	return "1/" + times(1/ratio) + " of that"
}

// interval is the ratio's.
func (f *finding) interval() string {
	i := sure(f.Ratio)
	if i.Level == 0 {
		return ", of too few runs for an interval"
	}
	return fmt.Sprintf(", %s interval %s", level(i.Level), between(i, times))
}

// upper makes a text's first letter a capital.
func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
