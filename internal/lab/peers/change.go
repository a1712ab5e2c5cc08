package peers

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
)

// A Change is a cell that is not what it was.
type Change struct {
	Path    string      // of the cell and of who Strand was compared with
	Factor  stats.Ratio // of the ratio now over the ratio then; above 1 Strand is faster than it was
	Then    stats.Ratio
	Now     stats.Ratio
	decided bool
}

// Changes returns the cells that both reports have and whose ratio to the same contender has
// changed beyond what chance does, and how many were compared. Two days have no rounds in common,
// so they are compared by a control that is in both: raw sockets, or the first peer that is there.
func Changes(then, now *Report) (changed []Change, compared int) {
	for i := range now.Tables {
		t := &now.Tables[i]
		old := then.table(t.Path())
		if old == nil {
			continue
		}
		for j := range t.Rows {
			r := &t.Rows[j]
			at := slices.IndexFunc(old.Rows, func(o Row) bool { return o.Cell == r.Cell })
			if at < 0 {
				continue
			}
			if c, found := changeOf(t, &old.Rows[at], r); found {
				compared++
				if c.decided {
					changed = append(changed, c)
				}
			}
		}
	}
	return changed, compared
}

func changeOf(t *Table, then, now *Row) (Change, bool) {
	for _, peer := range peerNames {
		key, _ := now.best(peer)
		if key == "" || len(present(then.Times[key])) == 0 {
			continue
		}
		before, after := then.speeds(key), now.speeds(key)
		f := stats.OfMedians(after, before)
		c := Change{Path: t.Path() + "/" + t.label(now.Cell) + "/" + peer, Factor: f, Then: then.ratio(key), Now: now.ratio(key)}
		failed := slices.Contains(then.Times[strandKey], failedTime) || slices.Contains(now.Times[strandKey], failedTime) // those rounds might have been its slowest
		c.decided = !failed && f.Interval.Sure() && (f.Interval.Low > 1 || f.Interval.High < 1)
		return c, f.N > 0
	}
	return Change{}, false
}

// speeds are how many times as fast as another contender Strand was, by round.
func (r *Row) speeds(other string) []float64 {
	var all []float64
	for i := range min(len(r.Times[strandKey]), len(r.Times[other])) {
		if a, b := r.Times[strandKey][i], r.Times[other][i]; a > 0 && b > 0 {
			all = append(all, b/a)
		}
	}
	return all
}

// WriteChanges writes what has changed, for people.
func WriteChanges(out io.Writer, then, now *Report) error {
	changed, compared := Changes(then, now)
	_, err := fmt.Fprintf(out, "%s beside %s: %d cells compared, %d changed beyond chance (at most %.0f would by chance alone)\n",
		now.Commit, then.Commit, compared, len(changed), 0.05*float64(compared))
	if err == nil && !now.sameMachine(then) {
		_, err = fmt.Fprintln(out, "  the machine, its kernel, Go or congestion control is not the same: what has changed may be that")
	}
	slices.SortStableFunc(changed, func(a, b Change) int { return cmp.Compare(a.Factor.Value, b.Factor.Value) })
	for _, c := range changed {
		if err != nil {
			break
		}
		word := "faster"
		if c.Factor.Value < 1 {
			word = "slower"
		}
		_, err = fmt.Fprintf(out, "  %-36s %s: %.2f × (%.2f–%.2f); ratio %.2f, was %.2f\n",
			c.Path, word, c.Factor.Value, c.Factor.Interval.Low, c.Factor.Interval.High, c.Now.Value, c.Then.Value)
	}
	return err
}
