package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"unicode/utf8"
)

// How variants are drawn, in turn. The colours are the style sheet's. Markers and dashes tell
// more variants apart than those.
const colours = 6

var (
	dashes  = []string{"", "6 2", "2 2", "8 2 2 2", "4 4"}
	markers = []marker{
		{disc, false}, {box, false}, {pyramid, false}, {disc, true}, {box, true}, {pyramid, true}, {"m-2.6-2.6l5.2 5.2m0-5.2l-5.2 5.2", true},
	}
)

const (
	disc    = "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z"
	box     = "m-2.6-2.6h5.2v5.2h-5.2z"
	pyramid = "m0-3.5l3.1 5.4h-6.2z"
)

// A marker is a path from its point.
type marker struct {
	path   string
	hollow bool
}

func (m marker) class() string {
	if m.hollow {
		return "hollow"
	}
	return "solid"
}

// A canvas is an SVG that is part of a page. What its classes look like is in the style sheet.
type canvas struct{ strings.Builder }

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// text writes one line of text, whose middle, start or end is at a point.
func (c *canvas) text(x, y float64, anchor, attributes, text string) {
	c.printf(`<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`, x, y, anchor, attributes, html.EscapeString(text))
}

// path draws lines of a class, if there are any.
func (c *canvas) path(class, attributes, d string) {
	if d != "" {
		c.printf(`<path class="%s"%s d="%s"/>`, class, attributes, d)
	}
}

// svg is the whole picture. A reader who can not see it gets the description; without one it is
// an ornament.
func (c *canvas) svg(width, height float64, description string) template.HTML {
	role := ` aria-hidden="true"`
	if description != "" {
		role = fmt.Sprintf(` role="img" aria-label="%s"`, html.EscapeString(description))
	}
	return template.HTML(fmt.Sprintf("<svg viewBox=\"0 0 %g %g\"%s>%s</svg>\n", width, height, role, c))
}

// dashed is how the line of a variant is broken.
func dashed(variant int) string {
	if dash := dashes[variant%len(dashes)]; dash != "" {
		return fmt.Sprintf(` stroke-dasharray="%s"`, dash)
	}
	return ""
}

// glyph is how a variant looks in plots, for a legend.
func glyph(variant int) template.HTML {
	const width, height = 34, 12
	var c canvas
	m := markers[variant%len(markers)]
	c.printf(`<g class="v%d">`, variant%colours)
	c.path("line", dashed(variant), fmt.Sprintf("M0 %d H%d", height/2, width))
	c.path(m.class(), "", fmt.Sprintf("M%d %d%s", width/2, height/2, m.path))
	c.printf("</g>")
	return c.svg(width, height, "")
}

// textWidth is about how wide a text is: a digit of most fonts, and an average letter, is as wide.
func textWidth(text string) float64 { return 0.56 * plotFont * float64(utf8.RuneCountInString(text)) }
