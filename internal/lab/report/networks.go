package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/results"
)

// carried says what each of several networks has carried, and when it was down, by cell and
// variant; nil where there was one.
func carried(r *results.Report) *pageTable {
	out := &pageTable{
		Caption: "What each of several networks carried: sums of a run with all headers, medians of the runs that succeeded. When it was down: since its start, of the run that has the most to tell.",
		Heads:   []string{transport, "network", "carried", "of all", "frames lost", "frames sent while it was down", "down"},
		Figures: []bool{false, false, true, true, true, true},
	}
	for _, t := range tables(r) {
		var before *results.Cell
		for i := range t.rows {
			row := &t.rows[i]
			for place, cells := range partsOf(row.cell.Good(row.Name)) {
				next := pageRow{Cells: append([]string{""}, cells...)}
				if place == 0 {
					next.Cells[0] = row.Name
				}
				if row.cell != before {
					next.Group = located(t.workload.Title, row.cell, t.varying)
				}
				before = row.cell
				out.Rows = append(out.Rows, next)
			}
		}
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}

// partsOf are the rows of a variant in a cell, one for each network.
func partsOf(runs []results.Run) (rows [][]string) {
	type sums struct{ carried, share, lost, cut []float64 }
	var names, downs []string
	var all []sums
	for _, r := range runs {
		if r.Network == nil {
			continue
		}
		for i, n := range r.Network.Networks {
			if i == len(all) {
				names, downs, all = append(names, n.Name), append(downs, ""), append(all, sums{})
			}
			s := &all[i]
			s.carried = append(s.carried, float64(n.DeliveredBytes))
			s.share = append(s.share, float64(n.DeliveredBytes)/max(1, float64(r.Network.DeliveredBytes)))
			s.lost = append(s.lost, float64(n.Lost))
			s.cut = append(s.cut, float64(n.Cut))
			if text := downOf(n); len(text) > len(downs[i]) {
				downs[i] = text
			}
		}
	}
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	for i, s := range all {
		rows = append(rows, []string{
			names[i], middleText(s.carried, func(v float64) string { return digits(v/1e6) + " MB" }),
			middleText(s.share, func(v float64) string { return digits(v*100) + " %" }),
			middleText(s.lost, whole), middleText(s.cut, whole), downs[i],
		})
	}
	return rows
}

// mostDown is how many outages are told one by one.
const mostDown = 4

// downOf says when a network was down in a run.
func downOf(n results.NetworkPart) string {
	var all []string
	seconds := func(d time.Duration) string { return digits(d.Seconds()) + " s" }
	for i, o := range n.Down {
		if i == mostDown {
			all = append(all, fmt.Sprintf("and %d times more", len(n.Down)-i))
			break
		}
		all = append(all, fmt.Sprintf("%s to %s", seconds(o.At), seconds(o.At+o.For)))
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + " of " + digits(n.Seconds) + " s"
}
