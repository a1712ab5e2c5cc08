package report

import (
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A Verdict says what can be seen of a difference.
type Verdict int

// Verdicts.
const (
	TooFew  Verdict = iota // there are too few runs to tell
	NoneNow                // a difference may be there, but is not to be seen
	Better
	Worse
	Failed    // runs of one side failed: they might have been its slowest
	Late      // the emulator was late, beside the delay that was asked for
	Slow      // the machine lost frames that should not have been lost
	NoControl // nothing says how much of a change is the machine's
	Control   // this variant is the control
)

// word is for a table.
func (v Verdict) word() string {
	return [...]string{
		TooFew: "too few runs", NoneNow: "no difference seen", Better: "better", Worse: "worse", Failed: "runs failed",
		Late: "emulator late", Slow: "machine too slow", NoControl: "no control", Control: "control",
	}[v]
}

// class is for the style sheet: where runs failed, or were late, the others are too few.
func (v Verdict) class() string {
	return [...]string{
		TooFew: "few", NoneNow: "same", Better: "better", Worse: "worse", Failed: "few", Late: "few", Slow: "few", NoControl: "few", Control: "same",
	}[v]
}

// A Contrast is one variant beside another in a cell, or in two reports.
type Contrast struct {
	Name, Base       string // of variants
	Values, BaseLine stats.Summary
	Ratio            stats.Ratio // of Values to BaseLine
	Verdict          Verdict
}

// contrast compares a cell's runs of two variants, round by round: in a round they run one
// right after the other, and over networks of ours meet the same chances.
func contrast(cell *results.Cell, m results.Metric, name, base string) Contrast {
	c := Contrast{
		Name: name, Base: base,
		Values: summaryOf(cell, name, m), BaseLine: summaryOf(cell, base, m),
		Ratio: stats.ByRound(cell.Pairs(name, base, m.Name)),
	}
	c.Verdict = verdictOf(c.Ratio, m.LessIsBetter)
	if doubt, doubtful := doubtOf(cell, m, name, base); doubtful {
		c.Verdict = doubt
	}
	return c
}

// doubtOf tells why there can be no verdict on some variants in a cell, whatever the figures are.
// A bound of time makes the slowest runs fail, so the runs that did not fail are no ground for a
// verdict.
func doubtOf(cell *results.Cell, m results.Metric, variants ...string) (v Verdict, doubtful bool) {
	for _, name := range variants {
		if len(cell.Failures(name)) > 0 {
			return Failed, true
		}
	}
	for _, name := range variants {
		if tooLate(cell, name, m) != "" {
			return Late, true
		}
	}
	for _, name := range variants {
		if mostlySpoilt(cell.Of(name)) {
			return Slow, true
		}
	}
	return 0, false
}

// doubtful tells whether there were figures for a verdict, and something spoke against it.
func (v Verdict) doubtful() bool { return v == Failed || v == Late || v == Slow }

func verdictOf(r stats.Ratio, lessIsBetter bool) Verdict {
	switch i := r.Interval; {
	case !i.Sure():
		return TooFew
	case i.Low <= 1 && i.High >= 1:
		return NoneNow
	case (i.High < 1) == lessIsBetter:
		return Better
	}
	return Worse
}
