package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
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

// An axis is one of a plot's.
type axis struct {
	label string
	log   bool
	zero  bool // starts at 0 if it is not logarithmic
	ticks plot.Ticker

	// low and high are the range, if they are not what the points need.
	low, high float64
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
	plotFont   = 11
)

// palette is that of Okabe and Ito (2008), which colour-blind people can tell apart,
// without its yellow, which nobody sees on white. Markers and dashes tell more than that
// apart.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

var (
	markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
	dashes  = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {4, 4}}
	gray    = color.RGBA{0xd0, 0xd0, 0xd0, 0xff}
)

func lineStyle(variant int) draw.LineStyle {
	return draw.LineStyle{Color: palette[variant%len(palette)], Width: 1.6, Dashes: dashes[variant%len(dashes)]}
}

func glyphStyle(variant int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[variant%len(palette)], Radius: 3, Shape: markers[variant%len(markers)]}
}

// drawPlot makes an SVG. Whoever can not see it gets the description.
func drawPlot(x, y axis, all []series, description string) (template.HTML, error) {
	p := plot.New()
	p.BackgroundColor = nil // the page's shines through
	y.apply(&p.Y)
	x.apply(&p.X)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gray, gray
	p.Add(grid)
	for _, s := range all {
		if err := s.add(p); err != nil {
			return "", err
		}
	}
	widen(&p.X, x)
	widen(&p.Y, y)
	return render(plotWidth, plotHeight, description, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 2, -18, 2, -8)) // the last label is centered below the end of the axis
	}), nil
}

// apply sets an axis up.
func (a axis) apply(to *plot.Axis) {
	to.Label.Text = a.label
	to.Label.TextStyle.Font = sans(plotFont)
	to.Tick.Label.Font = sans(plotFont)
	to.Tick.Length = 4
	to.Width, to.Tick.Width = 0.5, 0.5
	if a.log {
		to.Scale = plot.LogScale{}
	}
	to.Tick.Marker = a.ticks
}

func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// widen gives an axis a range that its scale can show.
func widen(axis *plot.Axis, a axis) {
	switch {
	case a.high > a.low:
		axis.Min, axis.Max = a.low, a.high
	case a.log:
		room := 1.2
		if axis.Max/axis.Min < 4 {
			room = 1.5
		}
		axis.Min, axis.Max = axis.Min/room, axis.Max*room
	case a.zero:
		axis.Min = 0
		axis.Max *= 1.05
	}
	if axis.Max <= axis.Min {
		axis.Max = axis.Min + 1
	}
}

// add draws a series into a plot.
func (s series) add(p *plot.Plot) error {
	if len(s.points) == 0 {
		return nil
	}
	xys := make(plotter.XYs, len(s.points))
	var bars bars
	for i, at := range s.points {
		xys[i] = plotter.XY{X: at.X, Y: at.Y}
		if at.High > 0 {
			bars.XYs = append(bars.XYs, xys[i])
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{below(at), at.High - at.Y})
		}
	}
	if s.line {
		line, err := plotter.NewLine(xys)
		if err != nil {
			return err
		}
		line.LineStyle = lineStyle(s.index)
		p.Add(line)
	}
	if s.bare {
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.GlyphStyle = glyphStyle(s.index)
	p.Add(dots)
	if len(bars.XYs) == 0 {
		return nil
	}
	whiskers, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return err
	}
	whiskers.LineStyle = draw.LineStyle{Color: palette[s.index%len(palette)], Width: 1}
	p.Add(whiskers)
	return nil
}

// below is how far an interval reaches below its point. Where it is smaller than what the
// point's own size rounds away, the plotter would take the difference for zero, which has no
// place on a logarithmic axis.
func below(at point) float64 {
	if at.Low > 0 {
		return min(at.Y-at.Low, math.Nextafter(at.Y, 0))
	}
	return at.Y - at.Low
}

// bars are intervals as the plotter wants them.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// glyph is how a variant looks in plots, for a legend.
func glyph(variant int) template.HTML {
	const width, height = 34, 12
	return render(width, height, "", func(c draw.Canvas) {
		c.StrokeLine2(lineStyle(variant), 0, height/2, width, height/2)
		c.DrawGlyph(glyphStyle(variant), vg.Point{X: width / 2, Y: height / 2})
	})
}

// prologue is what an SVG file starts with. On a page the size is the style sheet's, and the
// background the page's.
var prologue = regexp.MustCompile(`(?s)^.*?<svg[^>]*>\s*`)

// render draws into an SVG that is part of a page. All texts in it were escaped by
// the canvas.
func render(width, height vg.Length, description string, paint func(draw.Canvas)) template.HTML {
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	paint(draw.New(canvas))
	var b bytes.Buffer
	// It writes into memory.
	_, _ = canvas.WriteTo(&b)
	role := ` aria-hidden="true"`
	if description != "" {
		role = fmt.Sprintf(` role="img" aria-label="%s"`, html.EscapeString(description))
	}
	head := fmt.Sprintf(`<svg viewBox="0 0 %g %g"%s>`, width.Points(), height.Points(), role)
	return template.HTML(head + prologue.ReplaceAllLiteralString(b.String(), ""))
}

// steps are ticks at 1, 2 and 5 and their multiples by ten, in a table's unit.
type steps struct {
	unit scale
	log  bool
}

// Ticks implements [plot.Ticker].
func (s steps) Ticks(low, high float64) []plot.Tick {
	if !s.log {
		return s.linear(low, high)
	}
	low, high = low/s.unit.factor, high/s.unit.factor
	if !(low > 0 && high > low && !math.IsInf(high, 0)) {
		return nil
	}
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	stride := max(1, (last-first)/6) // so many powers of ten from label to label
	digits := []float64{1, 2, 5}
	if high/low < 10 { // else there might be one tick only, or two
		digits = []float64{1, 1.5, 2, 3, 4, 5, 7}
	}
	var ticks []plot.Tick
	for power := first; power <= last; power++ {
		for _, digit := range digits {
			value := digit * math.Pow10(power)
			if value < low || value > high {
				continue
			}
			label := ""
			if (digit == 1 && (power-first)%stride == 0) || (digit != 1 && last-first <= 2) {
				label = plain(value)
			}
			ticks = append(ticks, plot.Tick{Value: value * s.unit.factor, Label: label})
		}
	}
	return ticks
}

// linear are about five ticks.
func (s steps) linear(low, high float64) []plot.Tick {
	low, high = low/s.unit.factor, high/s.unit.factor
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 2))))
	for _, multiple := range []float64{2, 2.5, 2} {
		if (high-low)/step > 6 {
			step *= multiple
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 20; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step * s.unit.factor, Label: plain(i * step)})
	}
	return ticks
}

// named are ticks with names.
type named []plot.Tick

// Ticks implements [plot.Ticker].
func (n named) Ticks(float64, float64) []plot.Tick { return n }
