package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/stats"
)

// mostFigures bounds the plots of a workload: a page with hundreds is read by nobody.
const mostFigures = 24

// A dimension is what a plot can have on its horizontal axis.
type dimension struct {
	name  string // of the condition
	label string
	log   bool
	of    func(*results.Cell) float64
}

var (
	byLoss  = dimension{"loss", "frames lost", false, (*results.Cell).Loss}
	bySize  = dimension{"size", "size of a message", true, func(c *results.Cell) float64 { return c.Number("size") }}
	byDelay = dimension{"delay", "delay of the network, one way", false, func(c *results.Cell) float64 {
		if c.Link == nil {
			return 0
		}
		return c.Link.Delay.Seconds()
	}}
)

// dimensions are what a workload is drawn by, where it varies; if none does, the runs
// themselves are drawn.
func dimensions(w results.WorkloadName) []dimension {
	if w == results.PingPong {
		return []dimension{bySize, byLoss, byDelay}
	}
	return []dimension{byLoss, byDelay, bySize}
}

// figures draws a table, and says how many plots were left out.
func (t *table) figures() (all []figure, leftOut int, err error) {
	var drawn []drawing
	for _, d := range dimensions(t.workload.Name) {
		if slices.Contains(t.varying, d.name) {
			drawn = append(drawn, t.curves(d)...)
			if t.workload.Name != results.PingPong {
				break
			}
		}
	}
	if len(drawn) == 0 {
		drawn = t.dots()
	}
	if t.workload.Name == results.HOL {
		drawn = append(drawn, t.tails()...)
	}
	leftOut = max(0, len(drawn)-mostFigures)
	all, err = draws(drawn[:len(drawn)-leftOut])
	return all, leftOut, err
}

// draws makes plots.
func draws(drawn []drawing) ([]figure, error) {
	var all []figure
	for _, d := range drawn {
		svg, err := drawPlot(d.x, d.y, d.series, d.description())
		if err != nil {
			return nil, fmt.Errorf("plot of %s: %w", d.caption, err)
		}
		all = append(all, figure{svg, d.caption})
	}
	return all, nil
}

// A drawing is a plot to be.
type drawing struct {
	x, y    axis
	series  []series
	caption string
	words   func(point) string // what a point says; nil if there are too many to read out
	bare    bool               // markers would hide the lines
}

// description is the plot in words.
func (d *drawing) description() string {
	parts := []string{d.caption}
	for _, s := range d.series {
		if d.words == nil {
			break
		}
		var values []string
		for _, p := range s.points {
			values = append(values, d.words(p))
		}
		parts = append(parts, s.name+": "+strings.Join(values, ", "))
	}
	return strings.Join(parts, ". ")
}

// group collects rows by the conditions that a dimension leaves, in order.
func (t *table) group(without func(*results.Cell) string) [][]*row {
	place := map[string]int{}
	var groups [][]*row
	for i := range t.rows {
		r := &t.rows[i]
		key := without(r.cell)
		if _, known := place[key]; !known {
			place[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[place[key]] = append(groups[place[key]], r)
	}
	return groups
}

// curves draws the headline by a dimension, a plot for each combination of the others.
func (t *table) curves(d dimension) []drawing {
	var all []drawing
	for _, rows := range t.group(func(c *results.Cell) string { return joined(without(c, d.name)) }) {
		var ticks named
		positions, medians, lowest := map[float64]bool{}, []float64{}, math.Inf(1)
		for _, r := range rows {
			x := d.of(r.cell)
			if d.log && x <= 0 {
				continue
			}
			if !positions[x] {
				positions[x] = true
				ticks = append(ticks, plot.Tick{Value: x, Label: textOf(r.cell, d.name)})
			}
			if r.Values.N > 0 {
				medians = append(medians, r.Values.Median)
				lowest = min(lowest, least(r.Values))
			}
		}
		if len(positions) < 2 || len(medians) == 0 {
			continue
		}
		slices.SortFunc(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
		dodge := dodging(d, ticks)
		out := drawing{
			x: axis{label: d.label, log: d.log, ticks: thinned(ticks)}, y: t.valueAxis(medians, lowest),
			caption: t.caption(" by "+d.label, rows[0].cell, d.name),
			words: func(p point) string {
				return fmt.Sprintf("%s at %s", quantity(t.metric.Unit, p.Y), nearest(ticks, p.X))
			},
		}
		for _, r := range rows {
			x := d.of(r.cell)
			if r.Values.N == 0 || !positions[x] {
				continue
			}
			i := shown(r.Values)
			out.add(r, point{dodge(x, r.index), r.Values.Median, i.Low, i.High})
		}
		for _, s := range out.series {
			slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
		}
		all = append(all, out)
	}
	return all
}

// mostPoints bounds a line of a plot, which is 300 points wide.
const mostPoints = 300

// add puts points into the series of a row's variant.
func (d *drawing) add(r *row, points ...point) {
	if stride := (len(points) + mostPoints - 1) / mostPoints; stride > 1 {
		few := points[:0:0]
		for i := 0; i < len(points); i += stride {
			few = append(few, points[i])
		}
		points = few
	}
	for i := range d.series {
		if d.series[i].name == r.Name {
			d.series[i].points = append(d.series[i].points, points...)
			return
		}
	}
	d.series = append(d.series, series{r.Name, r.index, points, true, d.bare})
}

// dodging moves variants apart a little, so that their intervals do not hide each
// other.
func dodging(d dimension, ticks named) func(x float64, index int) float64 {
	const share = 0.012
	span := ticks[len(ticks)-1].Value - ticks[0].Value
	return func(x float64, index int) float64 {
		step := float64(index%5 - 2)
		if d.log {
			return x * (1 + 4*share*step/2)
		}
		return x + span*share*step
	}
}

// nearest is the name of the tick that a point belongs to.
func nearest(ticks named, x float64) string {
	best := slices.MinFunc(ticks, func(a, b plot.Tick) int {
		return cmp.Compare(abs(a.Value-x), abs(b.Value-x))
	})
	return best.Label
}

func abs(x float64) float64 { return max(x, -x) }

// thinned leaves names out where there are too many for the width.
func thinned(ticks named) named {
	const most = 7
	out := slices.Clone(ticks)
	stride := (len(ticks) + most - 1) / most
	for i := range out {
		if i%stride != 0 {
			out[i].Label = ""
		}
	}
	return out
}

// least is the lowest that is drawn: the median, or where its interval begins.
func least(s stats.Summary) float64 {
	if i := shown(s); i.High > 0 {
		return min(s.Median, i.Low)
	}
	return s.Median
}

// valueAxis is logarithmic where figures differ much, unless 0, which has no place there, is
// the least that is drawn.
func (t *table) valueAxis(values []float64, least float64) axis {
	s := scaleFor(t.metric.Unit, values)
	log := least > 0 && slices.Max(values)/slices.Min(values) > 8
	return axis{label: fmt.Sprintf("%s, %s", t.metric.Text, s.name), log: log, zero: true, ticks: steps{s, log}}
}

// caption names a plot by the conditions in which its cells differ from others'.
func (t *table) caption(by string, c *results.Cell, but string) string {
	names := slices.DeleteFunc(slices.Clone(t.varying), func(name string) bool { return name == but })
	return upper(located(t.metric.Text+by, c, names))
}

// located is a text with conditions of a cell.
func located(text string, c *results.Cell, names []string) string {
	if where := textsOf(c, names); where != "" {
		return text + ", " + where
	}
	return text
}
