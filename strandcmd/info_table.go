package strandcmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Bounds of a line's width, in characters.
const (
	usualWidth = 80
	mostWidth  = 120
)

// terminalWidth returns the width at which text is wrapped.
func terminalWidth(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil || width < 40 {
		return usualWidth
	}
	return min(width, mostWidth)
}

// write prints the information for people.
func (i *information) write(out io.Writer, width int) error {
	var b strings.Builder
	if i.Components != nil {
		fmt.Fprintf(&b, "%s\n\nTransports\n", i.Version)
		for _, line := range i.componentLines() {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
		for _, line := range i.congestionLines() {
			b.WriteString("\n" + line + "\n")
		}
		b.WriteString(i.parameterTitle())
	}
	lines := i.parameterLines()
	for n, p := range i.Parameters {
		b.WriteString(strings.TrimRight("  "+lines[n], " ") + "\n")
		b.WriteString(wrap(p.Help, "      ", width))
	}
	if i.Hidden > 0 && !i.brief {
		fmt.Fprintf(&b, "\n%d more parameters of higher levels: --level tuner, --level developer.\n", i.Hidden)
	}
	if i.Components != nil {
		b.WriteString("Set one with -p name=value, a STRAND_ variable or a line in strand.conf; strand info --help.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// parameterTitle stands before the parameters, or instead of them.
func (i *information) parameterTitle() string {
	switch {
	case !i.brief:
		return "\nParameters\n"
	case len(i.Parameters) == 0:
		return fmt.Sprintf("\nParameters: all %d have their defaults; --level user shows what most want to know of, and --param all --level developer shows each.\n", i.Hidden)
	}
	return fmt.Sprintf("\nParameters that were set; %d others have their defaults (--level user shows what most want to know of)\n", i.Hidden)
}

// componentLines is the table of components and their modules.
func (i *information) componentLines() []string {
	rows := [][]string{{"COMPONENT", "MODULE", "EAGER", "FRAME", "MBIT/S", "LATENCY", "EXCLUSIVITY", "FAILOVER", "LANES", "PROMISES"}}
	for _, c := range i.Components {
		if c.State != available {
			rows = append(rows, []string{c.Name, c.State + ": " + c.Reason})
		}
		for _, m := range c.Modules {
			rows = append(rows, []string{c.Name, m.Name,
				param.FormatSize(int64(m.EagerLimit)), param.FormatSize(int64(m.MaxFrame)), fmt.Sprint(m.Bandwidth),
				m.Latency.String(), fmt.Sprint(m.Exclusivity), c.failover(), fmt.Sprint(m.Lanes), m.promises()})
		}
	}
	return align(rows)
}

// congestionLines says which congestion control connections get.
func (i *information) congestionLines() (lines []string) {
	for _, c := range i.Components {
		for _, m := range c.Modules {
			switch {
			case m.CongestionWithin == "" && m.CongestionOthers == "":
			case m.CongestionWithin == m.CongestionOthers:
				lines = append(lines, fmt.Sprintf("Congestion control of %s: %s", m.Name, m.CongestionWithin))
			default:
				lines = append(lines, fmt.Sprintf("Congestion control of %s: %s within this machine, %s to others", m.Name, m.CongestionWithin, m.CongestionOthers))
			}
		}
	}
	return lines
}

// failover says whether a component stands by where another one is preferred.
func (c componentInfo) failover() string {
	if c.StandsBy {
		return "stands by"
	}
	return "no"
}

// promises lists what a module guarantees.
func (m moduleInfo) promises() string {
	var words []string
	for _, p := range []struct {
		holds bool
		word  string
	}{{m.Ordered, "ordered"}, {m.Reliable, "reliable"}, {m.Confirms, "confirms"}, {m.Unbreakable, "unbreakable"}, {m.Secrecy == btl.Encrypted.String(), "encrypted"}} {
		if p.holds {
			words = append(words, p.word)
		}
	}
	return strings.Join(words, ", ")
}

// parameterLines is a line for each parameter, without its help.
func (i *information) parameterLines() []string {
	var rows [][]string
	for _, p := range i.Parameters {
		value := p.Value
		if value == "" {
			value = `""`
		}
		kind := p.Type
		if p.Allowed != "" {
			kind += ", " + p.Allowed
		}
		if p.Unit != "" {
			kind += " " + p.Unit
		}
		rows = append(rows, []string{p.Name, "= " + value, "(" + p.from() + ")", kind, p.Level})
	}
	return align(rows)
}

// align pads the cells of a table and returns its lines. The last cell of a row may be longer than its column, as one that says why there
// are no others.
func align(rows [][]string) []string {
	var widths []int
	for _, cells := range rows {
		for i, cell := range cells[:max(0, len(cells)-1)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, 0, len(rows))
	for _, cells := range rows {
		var b strings.Builder
		for i, cell := range cells {
			b.WriteString(cell)
			if i < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell)))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " ")) // the last cell may be empty
	}
	return lines
}

// wrap breaks text into indented lines.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteByte('\n')
	return b.String()
}
