package report

import (
	"slices"

	"github.com/strandmp/strand/internal/lab/results"
)

// mostWindows bounds the plots of congestion windows of a workload.
const mostWindows = 3

// windows draws a connection's congestion window in the first round of each cell.
func (t *table) windows() []drawing {
	var all []drawing
	for _, rows := range t.group((*results.Cell).Key) {
		out := drawing{bare: true}
		name := ""
		var longest, largest float64
		for _, r := range rows {
			w := widest(r.cell.Of(r.Name))
			var points []point
			if name == "" {
				name = w.Name
			}
			for _, s := range w.Samples {
				points = append(points, point{X: s.At, Y: s.Bytes})
				longest, largest = max(longest, s.At), max(largest, s.Bytes)
			}
			if len(points) > 1 {
				out.add(r, points...)
			}
		}
		if len(out.series) == 0 || largest == 0 || longest == 0 {
			continue
		}
		out.caption = located(t.workload.Title+", congestion window", rows[0].cell, t.varying)
		if name != "" {
			out.caption += ": " + name
		}
		s := scale{"kB", 1e3}
		out.x = axis{label: "time, s", zero: true, ticks: steps{scale{"s", 1}, false}}
		out.y = axis{label: "congestion window, kB", zero: true, ticks: steps{s, false}}
		all = append(all, out)
	}
	// Loss grows from cell to cell, if it varies.
	return all[max(0, len(all)-mostWindows):]
}

// windowSizes are those of all samples of some runs. Before there was a connection there
// was none.
func windowSizes(runs []results.Run) []float64 {
	var sizes []float64
	for _, r := range runs {
		for _, w := range r.Windows {
			for _, s := range w.Samples {
				if s.Bytes > 0 {
					sizes = append(sizes, s.Bytes)
				}
			}
		}
	}
	return sizes
}

// widest returns of the first run that has any the window with the most samples.
func widest(runs []results.Run) results.Window {
	for _, r := range runs {
		if len(r.Windows) > 0 {
			return slices.MaxFunc(r.Windows, func(a, b results.Window) int { return len(a.Samples) - len(b.Samples) })
		}
	}
	return results.Window{}
}
