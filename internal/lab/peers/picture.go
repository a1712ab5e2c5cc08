package peers

import (
	"path/filepath"
	"strings"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/report"
)

// drawn tells whether a table has a picture: one by size, or by window, needs several of them.
func (r *Report) drawn(t *Table) bool {
	switch t.Name {
	case pairs, rate:
		return false
	}
	for _, l := range r.lines(t) {
		if len(l.Points) > 1 {
			return true
		}
	}
	return false
}

// Draw writes a picture for each table that has one into a folder.
func (r *Report) Draw(folder string) error {
	for i := range r.Tables {
		t := &r.Tables[i]
		if !r.drawn(t) {
			continue
		}
		p := report.Picture{Title: t.Path() + ": " + titleOfRatio(t), XLabel: "size of a message", YLabel: "ratio", Mark: 1, Lines: r.lines(t), XTicks: sizeTicks}
		if t.Name == depth {
			p.XLabel, p.XTicks = "window, messages", windowTicks
		}
		if err := writeWhole(filepath.Join(folder, strings.ReplaceAll(t.Path(), "/", "-")+".svg"), p.SVG()); err != nil {
			return err
		}
	}
	return nil
}

func titleOfRatio(t *Table) string {
	switch {
	case t.Rows[0].Workload.LessIsBetter():
		return "Strand's time over the peer's"
	case t.Name == burst || t.Name == depth:
		return "Strand's rate over Open MPI's"
	}
	return "Strand's rate over the peer's"
}

// lines are a table's ratios: a line for each peer, or, where cells differ by something else too,
// beside Open MPI one for each of that.
func (r *Report) lines(t *Table) []report.Line {
	var all []report.Line
	add := func(name string, x float64, c Comparison) {
		at := -1
		for i := range all {
			if all[i].Name == name {
				at = i
			}
		}
		if at < 0 {
			all, at = append(all, report.Line{Name: name}), len(all)
		}
		if c.Ratio.Value > 0 {
			p := report.Point{X: x, Y: c.Ratio.Value}
			if i := c.Ratio.Interval; i.Sure() {
				p.Low, p.High = i.Low, i.High
			}
			all[at].Points = append(all[at].Points, p)
		}
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		for _, c := range t.compare(row, peerNames) {
			switch {
			case t.Name == depth && c.Peer == "openmpi":
				add(bench.FormatSize(row.Size), float64(row.Window), c)
			case t.Name == burst && c.Peer == "openmpi":
				add(row.Pause.String(), float64(row.Size), c)
			case t.Name == pingpong || t.Name == stream:
				add(peerTitles[c.Peer], float64(row.Size), c)
			}
		}
	}
	return all
}

var sizeTicks, windowTicks = powers(1, 4<<20, 16), powers(1, 256, 4)

// powers are ticks at powers of two, of which every so manyfold has a name.
func powers(from, to, named int) []report.Tick {
	var all []report.Tick
	for n, next := from, from; n <= to; n *= 2 {
		t := report.Tick{Value: float64(n)}
		if n == next {
			t.Label, next = bench.FormatSize(n), next*named
		}
		all = append(all, t)
	}
	return all
}
