package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/strandmp/strand/internal/lab/results"
)

// A Live redraws a report's table on a terminal while the comparison runs. The zero
// value of Width or Height is 80 or 24.
type Live struct {
	Out           io.Writer
	Width, Height int // of the terminal, in characters

	drawn int // lines, above which the next drawing starts
}

// Codes of ECMA-48, which every terminal of today knows.
const (
	cursorUp   = "\x1b[%dA"
	toTheEnd   = "\x1b[J" // clears from the cursor to the end of the screen
	defaultCut = 80
	defaultTop = 24
)

// Draw puts the table and a line of status in place of what it drew last. Of a table
// that is higher than the terminal it shows what runs now.
func (l *Live) Draw(r *results.Report, status string) error {
	lines := l.fit(tableLines(r), current(r))
	if status != "" {
		lines = append(lines, status)
	}
	return l.replace(lines)
}

// Clear takes the drawing away, so that something else can be written in its place.
func (l *Live) Clear() error { return l.replace(nil) }

func (l *Live) replace(lines []string) error {
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, cursorUp+"\r"+toTheEnd, l.drawn)
	}
	width := l.Width
	if width <= 0 {
		width = defaultCut
	}
	for _, text := range lines {
		b.WriteString(cut(text, width-1) + "\n")
	}
	l.drawn = len(lines)
	_, err := io.WriteString(l.Out, b.String())
	return err
}

// cut cuts a line, whose blanks stand for themselves, at a width. A longer one would take two lines of the terminal, and what is
// drawn next would begin too low.
func cut(text string, width int) string {
	switch {
	case utf8.RuneCountInString(text) <= width:
		return text
	case width < 1:
		return ""
	}
	return string([]rune(text)[:width-1]) + "…"
}

// fit returns the part of the lines that fits on the terminal, around a place.
func (l *Live) fit(lines []string, place float64) []string {
	height := l.Height
	if height <= 0 {
		height = defaultTop
	}
	room := max(1, height-2) // for the status, and the line that the cursor is in
	if len(lines) <= room {
		return lines
	}
	start := min(max(0, int(place*float64(len(lines)))-room/2), len(lines)-room)
	return lines[start:][:room]
}

// current is where in the table the runs are, from 0 to 1.
func current(r *results.Report) float64 {
	over, all := r.Progress()
	if all == 0 {
		return 0
	}
	return float64(over) / float64(all)
}
