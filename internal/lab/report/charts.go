package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
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
	byNetworks = dimension{"networks", "networks between the hosts", false, func(c *results.Cell) float64 { return float64(len(c.Networks)) }}
)

// dimensions are what a workload is drawn by, where they vary. If none of them varies, the runs
// themselves are drawn.
func dimensions(w results.WorkloadName) []dimension {
	if w == results.PingPong {
		return []dimension{bySize, byLoss, byDelay, byNetworks}
	}
	return []dimension{byLoss, byDelay, bySize, byNetworks}
}

// figures draws a table, and says how many plots were left out.
func (t *table) figures() (all []figure, leftOut int) {
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
	t.alike(drawn, t.metric.Text)
	if t.workload.Name == results.HOL {
		tails := t.tails()
		t.alike(tails, "delay at most")
		drawn = append(drawn, tails...)
	}
	leftOut = max(0, len(drawn)-mostFigures)
	return draws(drawn[:len(drawn)-leftOut]), leftOut
}

// alike gives plots that stand beside each other vertical axes of one kind and unit, so that
// nobody mistakes one for the other. The axes are logarithmic where figures differ by more than
// eight times. They are not if the least that is drawn is 0, which has no place on such an axis.
func (t *table) alike(drawn []drawing, label string) {
	var values []float64
	lowest := math.Inf(1)
	for _, d := range drawn {
		values = append(values, d.values...)
		lowest = min(lowest, d.lowest)
	}
	if len(values) == 0 {
		return
	}
	s := scaleFor(t.metric.Unit, values)
	log := lowest > 0 && slices.Max(values)/slices.Min(values) > 8
	for i := range drawn {
		drawn[i].y = axis{label: label + ", " + s.name, log: log, zero: true, ticks: steps{s, log}}
	}
}

// draws makes plots.
func draws(drawn []drawing) (all []figure) {
	for _, d := range drawn {
		all = append(all, figure{drawPlot(d.x, d.y, d.series, d.description()), d.caption})
	}
	return all
}

// A drawing is a plot to be.
type drawing struct {
	x, y    axis
	series  []series
	caption string
	words   func(point) string // what a point says; nil if there are too many to read out
	bare    bool               // markers would hide the lines

	// values decide whether the vertical axis is logarithmic; lowest is the least that is drawn.
	values []float64
	lowest float64
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
				ticks = append(ticks, tick{Value: x, Label: textOf(r.cell, d.name)})
			}
			if r.hasMedian() {
				medians = append(medians, r.Values.Median)
				lowest = min(lowest, least(r.Values))
			}
		}
		if len(positions) < 2 || len(medians) == 0 {
			continue
		}
		slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.Value, b.Value) })
		beside := dodging(d, ticks, rows)
		out := drawing{
			x: axis{label: d.label, log: d.log, ticks: thinned(ticks), low: beside.low, high: beside.high}, values: medians, lowest: lowest,
			caption: t.caption(" by "+d.label, rows[0].cell, d.name),
			words: func(p point) string {
				return fmt.Sprintf("%s at %s", quantity(t.metric.Unit, p.Y), nearest(ticks, p.X))
			},
		}
		for _, r := range rows {
			x := d.of(r.cell)
			if !r.hasMedian() || !positions[x] {
				continue
			}
			i := shown(r.Values)
			out.add(r, point{beside.place(x, r.Name), r.Values.Median, i.Low, i.High})
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

// A dodge moves variants apart a little, so that their intervals do not hide each other: half of
// them to the left of where they belong, half to the right. low and high are the ends of an axis
// on which all have room.
type dodge struct {
	dimension
	names     []string // of the variants, from left to right
	step      float64  // from one to the next; of a logarithmic axis, in its logarithms
	low, high float64
}

func dodging(d dimension, ticks named, rows []*row) dodge {
	const share = 0.015 // of the axis
	b := dodge{dimension: d}
	for _, r := range rows {
		if !slices.Contains(b.names, r.Name) {
			b.names = append(b.names, r.Name)
		}
	}
	first, last := b.onAxis(ticks[0].Value), b.onAxis(ticks[len(ticks)-1].Value)
	b.step = min(share, 0.3/float64(len(ticks)*len(b.names))) * (last - first)
	room := b.step * (float64(len(b.names))/2 + 1)
	b.low, b.high = b.offAxis(first-room), b.offAxis(last+room)
	return b
}

// place is where a variant's point is drawn that belongs to a value.
func (b *dodge) place(x float64, name string) float64 {
	middle := float64(len(b.names)-1) / 2
	return b.offAxis(b.onAxis(x) + b.step*(float64(slices.Index(b.names, name))-middle))
}

// onAxis is how far along a plot's edge a value is.
func (d dimension) onAxis(x float64) float64 {
	return along(x, d.log)
}

func (d dimension) offAxis(x float64) float64 {
	if d.log {
		return math.Exp(x)
	}
	return x
}

// nearest is the name of the tick that a point belongs to.
func nearest(ticks named, x float64) string {
	best := slices.MinFunc(ticks, func(a, b tick) int {
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

// caption names a plot by the conditions that tell its cells from others', except the one named
// but.
func (t *table) caption(by string, c *results.Cell, but string) string {
	names := slices.DeleteFunc(slices.Clone(t.varying), func(name string) bool { return name == but })
	return upper(located(t.metric.Text+by, c, names))
}

// located adds to a text the named conditions of a cell.
func located(text string, c *results.Cell, names []string) string {
	if where := textsOf(c, names); where != "" {
		return text + ", " + where
	}
	return text
}
