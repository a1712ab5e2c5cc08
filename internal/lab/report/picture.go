package report

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// A Picture is a plot of its own, for pages that have no style sheet of ours. Both axes are
// logarithmic.
type Picture struct {
	Title  string
	XLabel string
	XTicks []Tick
	YLabel string
	Mark   float64 // a line across the plot at this value
	Lines  []Line
}

// A Tick is a value on an axis, with its name if it has one.
type Tick = tick

// A Line is a series of values with their intervals.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a value and, if High is not 0, its interval.
type Point = point

// pictureStyle is what page.css says of plots. Who reads in the dark gets other colours.
const pictureStyle = `svg{--text:#1c1f23;--soft:#5a626b;--line:#d5dae0;--back:#fff;background:var(--back)}
text{font:11px "Liberation Sans",Arial,Helvetica,sans-serif;fill:var(--text)}path{fill:none;stroke:var(--colour)}
.grid{stroke:var(--line);stroke-width:.6}.axis{stroke:var(--soft);stroke-width:.6}.mark{stroke:var(--text);stroke-width:1}
.line{stroke-width:1.6;stroke-linejoin:round}.solid{fill:var(--colour);stroke:none}.hollow{stroke-width:1.2}
.v0{--colour:#0072b2}.v1{--colour:#d55e00}.v2{--colour:#009e73}.v3{--colour:#cc79a7}.v4{--colour:#e69f00}.v5{--colour:#56b4e9}
@media(prefers-color-scheme:dark){svg{--text:#e4e8ec;--soft:#a3acb6;--line:#3b434c;--back:#14171a}.v0{--colour:#3d9fe0}}`

// SVG draws the picture: title, plot, legend. There must be a point.
func (p *Picture) SVG() []byte {
	y := axis{label: p.YLabel, log: true, ticks: steps{scale{"", 1}, true}}
	var all []series
	xs, ys := []float64{}, []float64{p.Mark}
	for i, l := range p.Lines {
		all = append(all, series{name: l.Name, index: i, points: l.Points, line: true})
		for _, v := range l.Points {
			xs, ys = append(xs, v.X), append(ys, v.Y, or(v.Low, v.Y), or(v.High, v.Y))
		}
	}
	x := axis{label: p.XLabel, log: true, ticks: within(p.XTicks, slices.Min(xs), slices.Max(xs))}
	h, v := x.span(xs), y.span(ys)
	const title, legend = plotFont + 8, plotFont + 10
	v.from, v.to = title+plotHeight-edge-2*plotFont-tickLength-6, title+edge
	h.from = edge + plotFont + 4 + v.widest() + tickLength + 3
	h.to = plotWidth - edge
	h.makeRoom(plotWidth - 2)

	var c canvas
	c.text(plotWidth/2, title, "middle", ` font-weight="bold"`, p.Title)
	c.axesTo(h, v, title+plotHeight)
	c.path("mark", "", fmt.Sprintf("M%.1f %.1fH%.1f", h.from, v.at(p.Mark), h.to))
	for _, s := range all {
		c.series(s, h, v)
	}
	c.legend(all, title+plotHeight+legend/2)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s"><style>%s</style>`,
		plotWidth, title+plotHeight+legend, html.EscapeString(p.Title), pictureStyle)
	b.WriteString(c.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// within are the ticks that values from low to high need.
func within(ticks []Tick, low, high float64) named {
	return slices.DeleteFunc(slices.Clone(ticks), func(t Tick) bool { return t.Value < low || t.Value > high })
}

func or(value, otherwise float64) float64 {
	if value > 0 {
		return value
	}
	return otherwise
}

// legend writes who is who, beside each other.
func (c *canvas) legend(all []series, y float64) {
	at := float64(edge)
	for _, s := range all {
		m := markers[s.index%len(markers)]
		c.printf(`<g class="v%d">`, s.index%colours)
		c.path("line", dashed(s.index), fmt.Sprintf("M%.1f %.1fh24", at, y))
		c.path(m.class(), "", fmt.Sprintf("M%.1f %.1f%s", at+12, y, m.path))
		c.printf("</g>")
		c.text(at+28, y+plotFont*0.35, "start", "", s.name)
		at += 28 + textWidth(s.name) + 16
	}
}
