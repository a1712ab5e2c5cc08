package report

import (
	"fmt"
	"html/template"
	"strings"
)

// A series is what a plot shows of one variant.
type series struct {
	name   string
	index  int // of the variant, for its colour
	points []point
	line   bool // joins the points
	bare   bool // has no markers
}

// A point is a value and, if High is not 0, its interval.
type point struct {
	X, Y, Low, High float64
}

// A figure is a plot on the page.
type figure struct {
	SVG     template.HTML
	Caption string
}

// The size of a plot, in the units of its SVG. The page scales it: on a telephone one is
// as wide as the screen, and its letters are then about as high as the text's.
const (
	plotWidth  = 380
	plotHeight = 250
	plotFont   = 11 // as in the style sheet
	tickLength = 4
	edge       = 8 // around all
)

// drawPlot makes an SVG.
func drawPlot(x, y axis, all []series, description string) template.HTML {
	var xs, ys []float64
	for _, s := range all {
		for _, p := range s.points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.High > 0 {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	h, v := x.span(xs), y.span(ys)
	v.from, v.to = plotHeight-edge-2*plotFont-tickLength-6, edge
	h.from = edge + plotFont + 4 + v.widest() + tickLength + 3
	h.to = plotWidth - edge
	h.makeRoom(plotWidth - 2)

	var c canvas
	c.axesTo(h, v, plotHeight)
	for _, s := range all {
		c.series(s, h, v)
	}
	return c.svg(plotWidth, plotHeight, description)
}

// axesTo draws the grid, the axes over it, and what is written beside them down to the end of the
// plot.
func (c *canvas) axesTo(h, v span, end float64) {
	var grid, lines strings.Builder
	for _, t := range h.ticks {
		at, length := h.at(t.Value), tickLength/2.
		if t.Label != "" {
			fmt.Fprintf(&grid, "M%.1f %.1fV%.1f", at, v.from, v.to)
			length = tickLength
		}
		fmt.Fprintf(&lines, "M%.1f %.1fv%g", at, v.from, length)
	}
	for _, t := range v.ticks {
		at, length := v.at(t.Value), tickLength/2.
		if t.Label != "" {
			fmt.Fprintf(&grid, "M%.1f %.1fH%.1f", h.from, at, h.to)
			length = tickLength
		}
		fmt.Fprintf(&lines, "M%.1f %.1fh%g", h.from, at, -length)
	}
	fmt.Fprintf(&lines, "M%.1f %.1fV%.1fH%.1f", h.from, v.to, v.from, h.to)
	c.path("grid", "", grid.String())
	c.path("axis", "", lines.String())

	const middle = plotFont * 0.35 // from the base of a letter to its middle
	for _, t := range h.ticks {
		if t.Label != "" {
			c.text(h.at(t.Value), v.from+tickLength+plotFont, "middle", "", t.Label)
		}
	}
	for _, t := range v.ticks {
		if t.Label != "" {
			c.text(h.from-tickLength-3, v.at(t.Value)+middle, "end", "", t.Label)
		}
	}
	c.text((h.from+h.to)/2, end-edge+2, "middle", "", h.label)
	x, y := float64(edge+plotFont/2), (v.from+v.to)/2
	c.text(x, y, "middle", fmt.Sprintf(` transform="rotate(-90 %.1f %.1f)"`, x, y), v.label)
}

// series draws the points of a variant, with their intervals.
func (c *canvas) series(s series, h, v span) {
	var line, whiskers, dots strings.Builder
	m := markers[s.index%len(markers)]
	for i, p := range s.points {
		x, y := h.at(p.X), v.at(p.Y)
		if i == 0 || !s.line {
			fmt.Fprintf(&line, "M%.1f %.1f", x, y)
		} else {
			fmt.Fprintf(&line, "L%.1f %.1f", x, y)
		}
		fmt.Fprintf(&dots, "M%.1f %.1f%s", x, y, m.path)
		if p.High > 0 {
			for _, end := range []float64{p.Low, p.High} {
				fmt.Fprintf(&whiskers, "M%.1f %.1fV%.1fm-2.5 0h5", x, y, v.at(end))
			}
		}
	}
	c.printf(`<g class="v%d">`, s.index%colours)
	if s.line {
		c.path("line", dashed(s.index), line.String())
	}
	if !s.bare {
		c.path("whisker", "", whiskers.String())
		c.path(m.class(), "", dots.String())
	}
	c.printf("</g>")
}
