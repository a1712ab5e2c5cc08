package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
)

// WriteMarkdown writes a report for a text to include: how it was made, the tables as a
// terminal has them, what networks and connections did, and what has changed since a
// baseline, if there is one.
func WriteMarkdown(out io.Writer, r, baseline *results.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, by %s:\n\n%s\n", when(r), orUnknown(r.Version), fenced(repeat(r)))
	for _, c := range machine(r) {
		fmt.Fprintf(&b, "- %s: %s\n", markdownText(c.Name), markdownText(c.Text))
	}
	for _, n := range notices(r) {
		fmt.Fprintf(&b, "- **%s**\n", markdownText(n))
	}
	fmt.Fprintf(&b, "\n%s", fenced(strings.TrimSpace(strings.Join(tableLines(r), "\n"))))
	if finding := Finding(r); finding != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownText(finding))
	}
	if t := counters(r); t != nil {
		t.markdown(&b)
	}
	if t := carried(r); t != nil {
		t.markdown(&b)
	}
	if baseline != nil {
		againstBaseline(r, baseline).markdown(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// fenced is a text as it is, between fences longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + harmless(text) + "\n" + fence + "\n"
}

// markdown writes a table. What its rows are of has a column of its own.
func (t *pageTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n\n| |", markdownText(t.Caption))
	for _, head := range t.Heads {
		fmt.Fprintf(b, " %s |", markdownText(head))
	}
	b.WriteString("\n|---|")
	for column := range t.Heads {
		if t.Kind(column) == "figure" {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	for _, row := range t.Rows {
		fmt.Fprintf(b, "\n| %s |", markdownText(row.Group))
		for _, cell := range row.Cells {
			fmt.Fprintf(b, " %s |", markdownText(cell))
		}
	}
	b.WriteString("\n")
}

// longestText bounds a text that is one line of Markdown.
const longestText = 1 << 15

// markdownText keeps what a text has from meaning anything, be it to Markdown or to a
// terminal.
func markdownText(text string) string {
	text = line(text, longestText)
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;").Replace(text)
}
