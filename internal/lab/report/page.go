package report

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	styleText string

	// pageTemplate is parsed when it is needed: most that the command does needs none.
	pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(pageText)) })
)

// A page is what the template is filled with. All texts are plain and get escaped
// there; only plots are markup, of our own making.
type page struct {
	Style    template.CSS
	Title    string
	When     string
	Notices  []string // what a reader has to know before he believes a figure
	Finding  string
	SameSeed bool // of the networks of a round
	Legend   []legend
	Sections []section
	Beside   *pageTable
	Thesis   string
	Baseline *pageTable
	Variants *pageTable
	Params   *pageTable
	Counters *pageTable
	Carried  *pageTable // by each of several networks
	Windows  []figure   // of connections
	Machine  []condition
	Failures []failure
	Repeat   string
}

// A legend is how a variant is drawn.
type legend struct {
	Name  string
	Glyph template.HTML
}

// A section is a workload's.
type section struct {
	ID, Title, About, Common string
	Findings                 []string
	Same                     []string // findings of no difference, or of too few runs
	Figures                  []figure
	Legend                   []legend
	LeftOut                  int
	Tables                   []*pageTable
}

// fewest is how many findings of no difference are worth folding up.
const fewest = 4

// Folded tells whether the list of what was not found starts closed.
func (s section) Folded() bool { return len(s.Same) > fewest }

// A pageTable is a table of the page.
type pageTable struct {
	Caption string
	Heads   []string
	Figures []bool // which columns have figures; those go to the right
	Rows    []pageRow
}

// Kind is the class of a column.
func (t *pageTable) Kind(column int) string {
	switch {
	case column < len(t.Figures) && t.Figures[column]:
		return "figure"
	case column < len(t.Heads) && t.Heads[column] == "":
		return "verdict"
	}
	return ""
}

// A pageRow is one of its rows.
type pageRow struct {
	Group string // what the rows from here on are of; "": as before
	Class string
	Cells []string
	Note  string
}

// A failure is what some runs have ended with.
type failure struct {
	Where, Variant string
	Count          int
	Text           string // of the first
}

// WritePage writes report.html: one file that needs nothing else and runs nothing. With a
// baseline it says what has changed since that.
func WritePage(out io.Writer, r, baseline *results.Report) error {
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, newPage(r, baseline)); err != nil {
		return err
	}
	_, err := b.WriteTo(out)
	return err
}

func newPage(r, baseline *results.Report) *page {
	p := &page{
		Style: template.CSS(styleText),
		Title: title(r), When: when(r), Notices: notices(r), Finding: Finding(r),
		SameSeed: r.Links.Kind == results.UserSpace,
		Beside:   beside(r), Thesis: thesis, Variants: differences(r), Params: parameters(r), Counters: counters(r), Carried: carried(r), Machine: machine(r),
		Repeat: repeat(r),
	}
	for i, v := range r.Variants {
		if v.Unable == "" {
			p.Legend = append(p.Legend, legend{v.Name, glyph(i)})
		}
	}
	for _, t := range tables(r) {
		s := t.section(r)
		s.Legend = p.Legend
		p.Sections = append(p.Sections, s)
		p.Failures = append(p.Failures, t.failures()...)
		p.Windows = append(p.Windows, draws(t.windows())...)
	}
	if baseline != nil {
		p.Baseline = againstBaseline(r, baseline)
	}
	return p
}

func title(r *results.Report) string {
	var names []string
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	return strings.Join(names, " · ")
}

func when(r *results.Report) string {
	text := r.Started.Format("2 January 2006, 15:04 MST")
	if !r.Finished.IsZero() {
		text += fmt.Sprintf(", took %v", r.Finished.Sub(r.Started).Round(time.Second))
	}
	return text
}

// spoiltShare is how many frames the emulation may lose that it should not before
// there is a warning.
const spoiltShare = 1e-4

func notices(r *results.Report) []string {
	var all []string
	over, total := r.Progress()
	switch {
	case r.Interrupted:
		all = append(all, fmt.Sprintf("The comparison was interrupted: %d of %d runs were made.", over, total))
	case r.Finished.IsZero():
		all = append(all, fmt.Sprintf("The comparison is not finished: %d of %d runs are over.", over, total))
	}
	if r.Links.Kind == results.Loopback {
		all = append(all, "No network was emulated: all ranks were on one host's loopback, without loss or delay.")
	}
	all = append(all, unables(r)...)
	if late := lateNotice(r); late != "" {
		all = append(all, late)
	}
	slow := 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Unable != "" {
			all = append(all, fmt.Sprintf("Not run: %s, %s: %s", c.Workload, joined(conditions(c)), c.Unable))
		}
		if slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return tooSlow(c.Of(v.Name)) != "" }) {
			slow++
		}
	}
	if slow > 0 {
		all = append(all, fmt.Sprintf("The machine was too slow for the emulated network in %d of %d cells: frames were lost that should not have been, as their rows say. Where most runs did so there is no verdict. Ask for lower rates, or fewer ranks.", slow, len(r.Cells)))
	}
	return all
}

// tooSlow says how many frames of some runs were lost because the machine could not keep up; ""
// if next to none. Each row is judged by itself: among many rows that went well a bad one would
// not be seen.
func tooSlow(runs []results.Run) string {
	var sent, spoilt float64
	for _, run := range runs {
		if run.Network != nil {
			sent, spoilt = sent+float64(run.Network.Sent), spoilt+float64(run.Network.Spoilt)
		}
	}
	if spoilt <= spoiltShare*sent {
		return ""
	}
	return fmt.Sprintf("machine too slow: %.0f of %.0f frames lost that should not have been", spoilt, sent)
}

// mostlySpoilt tells whether the machine has lost more than next to none of the frames of most of some runs. Such a loss is the
// machine's and no transport's, so it is no ground for a verdict, as it is none that frames were late.
func mostlySpoilt(runs []results.Run) bool {
	var shares []float64
	for _, run := range runs {
		if n := run.Network; n != nil {
			shares = append(shares, float64(n.Spoilt)/max(1, float64(n.Sent)))
		}
	}
	return stats.Median(shares) > spoiltShare
}

// section makes a workload's part of the page.
func (t *table) section(r *results.Report) section {
	s := section{ID: string(t.workload.Name), Title: t.workload.Title, About: t.workload.About, Common: joined(t.common)}
	for _, f := range t.findings() {
		if f.seen() {
			s.Findings = append(s.Findings, f.sentence())
		} else {
			s.Same = append(s.Same, f.sentence())
		}
	}
	s.Figures, s.LeftOut = t.figures()
	s.Tables = []*pageTable{t.page()}
	return s
}

// page is the table as the page has it: with a line of its own for a cell's conditions,
// for the sake of narrow screens.
func (t *table) page() *pageTable {
	out := &pageTable{Caption: sentences(t.title(), t.footnote()), Heads: t.heads()[len(t.varying):]}
	for _, head := range out.Heads {
		out.Figures = append(out.Figures, head != transport && head != "")
	}
	var before *results.Cell
	for i := range t.rows {
		r := &t.rows[i]
		row := pageRow{"", r.class(), t.cells(r)[len(r.head):], r.note}
		if r.cell != before {
			row.Group = textsOf(r.cell, t.varying)
		}
		before = r.cell
		out.Rows = append(out.Rows, row)
	}
	return out
}

// sentences joins texts that have no full stop.
func sentences(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text != "" {
			b.WriteString(text + ". ")
		}
	}
	return strings.TrimSpace(b.String())
}

// class is for the style sheet.
func (r *row) class() string {
	if r.isBase || r.Ratio.Value == 0 {
		return ""
	}
	return r.Verdict.class()
}

// failures are a table's runs that failed, each reason of a row once.
func (t *table) failures() []failure {
	var all []failure
	for i := range t.rows {
		r := &t.rows[i]
		place := map[string]int{}
		for _, text := range r.cell.Failures(r.Name) {
			if at, known := place[text]; known {
				all[at].Count++
				continue
			}
			place[text] = len(all)
			all = append(all, failure{located(t.workload.Title, r.cell, t.varying), r.Name, 1, text})
		}
	}
	return all
}
