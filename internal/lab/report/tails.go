package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// dots draws each run of each cell, for comparisons in which nothing varies that
// could be an axis.
func (t *table) dots() []drawing {
	var all []drawing
	for _, rows := range t.group((*results.Cell).Key) {
		var values []float64
		var ticks named
		out := drawing{caption: t.caption(" of each run", rows[0].cell, ""),
			words: func(p point) string { return quantity(t.metric.Unit, p.Y) }}
		for _, r := range rows {
			runs := r.cell.Values(r.Name, t.metric.Name)
			values = append(values, runs...)
			ticks = append(ticks, tick{Value: float64(len(ticks)), Label: line(r.Name, max(3, 60/len(rows)))})
			for i, v := range runs {
				const width = 0.4 // of the runs of a variant; 1 would touch its neighbours
				x := float64(len(ticks)-1) + width*((float64(i)+0.5)/float64(len(runs))-0.5)
				out.add(r, point{X: x, Y: v})
			}
		}
		if len(values) == 0 {
			continue
		}
		for i := range out.series {
			out.series[i].line = false
		}
		out.x = axis{label: "runs, in their order", ticks: ticks, low: -0.5, high: float64(len(rows)) - 0.5}
		out.values, out.lowest = values, slices.Min(values)
		all = append(all, out)
	}
	return all
}

// shownTail are the shares that a plot of a tail names.
var shownTail = []float64{0, 0.5, 0.9, 0.99, 0.999}

// tails draws how delays are distributed: how long a share of messages took at most. Each further
// nine of the share, 90 %, 99 %, 99.9 %, has as much room as the first ninety percent.
func (t *table) tails() []drawing {
	var ticks named
	for _, share := range shownTail {
		ticks = append(ticks, tick{Value: nines(share), Label: percent(share)})
	}
	var all []drawing
	for _, rows := range t.group((*results.Cell).Key) {
		var values []float64
		out := drawing{caption: located("Distribution of delays", rows[0].cell, t.varying), bare: true}
		for _, r := range rows {
			points := tail(r.cell.Of(r.Name))
			for _, p := range points {
				values = append(values, p.Y)
			}
			if len(points) > 0 {
				out.add(r, points...)
			}
		}
		if len(values) == 0 {
			continue
		}
		out.x = axis{label: "share of the messages", ticks: ticks}
		out.values, out.lowest = values, slices.Min(values)
		out.words = func(p point) string {
			return fmt.Sprintf("%s of %s", quantity(t.metric.Unit, p.Y), percent(1-math.Pow(10, -p.X)))
		}
		all = append(all, out)
	}
	return all
}

// nines is a share by its distance from 1: 90 % is 1, 99 % is 2.
func nines(share float64) float64 { return -math.Log10(1 - share) }

// tail is a variant's distribution: at each share the median of its runs.
func tail(runs []results.Run) []point {
	var shares []float64
	for _, r := range runs {
		if len(r.Delays) == 0 || r.Error != "" {
			continue
		}
		for _, q := range r.Delays[0].Quantiles {
			if q.Share <= shownTail[len(shownTail)-1] {
				shares = append(shares, q.Share)
			}
		}
	}
	slices.Sort(shares)
	var points []point
	for _, share := range slices.Compact(shares) {
		var values []float64
		for _, r := range runs {
			if len(r.Delays) > 0 && r.Error == "" && len(r.Delays[0].Quantiles) > 0 {
				values = append(values, r.Delays[0].At(share))
			}
		}
		if middle := stats.Median(values); middle > 0 {
			points = append(points, point{X: nines(share), Y: middle})
		}
	}
	return points
}
