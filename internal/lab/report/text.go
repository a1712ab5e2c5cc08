package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/strandmp/strand/internal/lab/results"
)

// longestNote bounds what a table says of an error; the page has all of it.
const longestNote = 120

// longestReason bounds why a transport can not run, which has lines of its own.
const longestReason = 5 * longestNote

// WriteTable writes a report's tables for a terminal, and the finding below them.
func WriteTable(out io.Writer, r *results.Report) error {
	lines := tableLines(r)
	if finding := Finding(r); finding != "" {
		lines = append(lines, finding)
	}
	_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
	return err
}

// tableLines are the tables' lines, with an empty one behind each table.
func tableLines(r *results.Report) []string {
	var lines []string
	for _, t := range tables(r) {
		lines = append(lines, t.lines()...)
		lines = append(lines, "")
	}
	if reasons := unables(r); len(reasons) > 0 {
		for _, reason := range reasons {
			lines = append(lines, folded(line(reason, longestReason), longestNote)...)
		}
		lines = append(lines, "")
	}
	return lines
}

// lines are those of a table.
func (t *table) lines() []string {
	lines := []string{t.title()}
	if common := joined(t.common); common != "" {
		lines = append(lines, "  "+common)
	}
	texts := [][]string{t.heads()}
	left := map[int]bool{} // columns of words; figures go to the right
	for i, head := range texts[0] {
		left[i] = head == transport || head == ""
	}
	var before *results.Cell
	for i := range t.rows {
		row := &t.rows[i]
		cells := t.cells(row)
		if row.cell == before {
			for j := range row.head {
				cells[j] = ""
			}
		}
		before = row.cell
		texts = append(texts, cells)
	}
	padLeft(texts, left)
	for i, text := range aligned(texts) {
		if i > 0 && t.rows[i-1].note != "" {
			text = strings.TrimRight(text, " ") + "  " + line(t.rows[i-1].note, longestNote)
		}
		lines = append(lines, "  "+strings.TrimRight(text, " "))
	}
	if note := t.footnote(); note != "" {
		lines = append(lines, "  "+note)
	}
	return lines
}

// padLeft moves the texts of a table's columns to the right, but those of words.
func padLeft(rows [][]string, left map[int]bool) {
	for column := range rows[0] {
		if left[column] {
			continue
		}
		width := 0
		for _, cells := range rows {
			width = max(width, utf8.RuneCountInString(cells[column]))
		}
		for _, cells := range rows {
			cells[column] = strings.Repeat(" ", width-utf8.RuneCountInString(cells[column])) + cells[column]
		}
	}
}

// aligned returns the lines of a table.
func aligned(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	// It writes into memory.
	_ = w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}
