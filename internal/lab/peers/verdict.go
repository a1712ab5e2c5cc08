package peers

import (
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
)

// A Verdict is about Strand beside one peer in one cell.
type Verdict string

// The verdicts.
const (
	NoAim     Verdict = ""          // the ratio is shown, and that is all
	Holds     Verdict = "holds"     // the aim is met, or the interval is narrow and can not say that it is not
	Fails     Verdict = "fails"     // the whole interval is on the wrong side
	FarOff    Verdict = "far off"   // and further than a cell may be
	Undecided Verdict = "undecided" // too few rounds, an interval too wide to say anything, or Strand failed
)

// failed tells whether a cell falls short.
func (v Verdict) failed() bool { return v == Fails || v == FarOff }

// A Comparison is Strand beside one peer in one cell.
type Comparison struct {
	Path    string // of the cell and the peer: tcp/burst/20ms/64K/openmpi
	Peer    string
	Variant string // the best one
	Ratio   stats.Ratio
	Aim     Aim
	Verdict Verdict
}

// compare returns Strand beside all peers that have figures in a row, in the order given.
func (t *Table) compare(r *Row, peers []string) []Comparison {
	var all []Comparison
	for _, peer := range peers {
		key, variant := r.best(peer)
		if key == "" {
			continue
		}
		c := Comparison{Path: t.Path() + "/" + t.label(r.Cell) + "/" + peer, Peer: peer, Variant: variant, Ratio: r.ratio(key)}
		if aim, has := aimOf(t, r.Cell, peer); has {
			c.Aim, c.Verdict = aim, aim.judge(c.Ratio, r.Workload.LessIsBetter())
			if slices.Contains(r.Times[strandKey], failedTime) { // which might have been its slowest
				c.Verdict = Undecided
			}
		}
		all = append(all, c)
	}
	return all
}

// best returns the variant of a peer whose median is best.
func (r *Row) best(peer string) (key, variant string) {
	least := 0.0
	for k, times := range r.Times {
		name, v := splitKey(k)
		if name != peer {
			continue
		}
		if m := stats.Median(present(times)); m > 0 && (key == "" || m < least || (m == least && k < key)) {
			key, variant, least = k, v, m
		}
	}
	return key, variant
}

// ratio compares Strand with another contender, round by round: of a ping-pong the times, else the
// rates.
func (r *Row) ratio(other string) stats.Ratio {
	var own, its []float64
	for i := range min(len(r.Times[strandKey]), len(r.Times[other])) {
		if a, b := r.Times[strandKey][i], r.Times[other][i]; a > 0 && b > 0 {
			own, its = append(own, a), append(its, b)
		}
	}
	if r.Workload.LessIsBetter() {
		return stats.ByRound(own, its)
	}
	return stats.ByRound(its, own)
}

// mostWidth is how many times its low end the high end of an interval may be that has the aim within it. A wider one says
// nothing: Strand may be behind by a third in it, or ahead by as much.
const mostWidth = 1.5

// judge holds a ratio against the aim.
func (a Aim) judge(r stats.Ratio, lessIsBetter bool) Verdict {
	low, high, off := r.Interval.Low, r.Interval.High, a.Limit/r.Value
	right, wrong := low >= a.Limit, high < a.Limit
	if lessIsBetter {
		right, wrong, off = high <= a.Limit, low > a.Limit, r.Value/a.Limit
	}
	switch {
	case !r.Interval.Sure():
		return Undecided
	case right:
		return Holds
	case !wrong && high > mostWidth*low:
		return Undecided
	case !wrong:
		return Holds
	case off > a.Most:
		return FarOff
	}
	return Fails
}

// present are the values that there are.
func present(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v <= 0 })
}

// A Score is how a table has done.
type Score struct {
	Judged, Failed, FarOff, Undecided int
	Worst                             *Comparison // of those that fail, the one that is furthest off
}

// mostFail is the share of a table's cells that may fail.
const mostFail = 0.05

// Passes tells whether the table does what it is to.
func (s Score) Passes() bool {
	return s.Judged > 0 && s.FarOff == 0 && float64(s.Failed) <= mostFail*float64(s.Judged)
}

// Word says whether the table passes.
func (s Score) Word() string {
	switch {
	case s.Judged == 0:
		return "–"
	case s.Passes():
		return "yes"
	}
	return "no"
}

// score counts verdicts.
func score(all []Comparison, lessIsBetter bool) (s Score) {
	worst := 0.0
	for i := range all {
		c := &all[i]
		switch c.Verdict {
		case NoAim:
			continue
		case Undecided:
			s.Undecided++
			continue
		case FarOff:
			s.FarOff++
		}
		s.Judged++
		if !c.Verdict.failed() {
			continue
		}
		s.Failed++
		off := c.Aim.Limit / c.Ratio.Value
		if lessIsBetter {
			off = 1 / off
		}
		if off > worst {
			worst, s.Worst = off, c
		}
	}
	return s
}
