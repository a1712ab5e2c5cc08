package peers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/stats"
)

// titles are those of the tables.
var titles = map[string]string{
	pingpong: "ping-pong, half the round trip in µs",
	stream:   "streams, windows of 64 messages, MB/s",
	rate:     "message rates, windows of 64, thousand messages a second",
	burst:    "bursts of 16 messages after computing, MB/s",
	pairs:    "pairs at once, windows of 64, thousand messages a second of all together",
	depth:    "depths, windows of 1 to 256 messages, MB/s",
}

// heads are what the first column is.
var heads = map[string]string{burst: "pause/size", pairs: "pairs/size", depth: "window/size"}

// peerTitles are the columns' names.
var peerTitles = map[string]string{"raw": "raw", "openmpi": "Open MPI", "mpich": "MPICH"}

// Page is the report in Markdown. Pictures are at the path, as the page sees them.
func (r *Report) Page(reasons Reasons, pictures string) string {
	p := &page{Report: r, reasons: reasons, pictures: pictures}
	p.head()
	p.scores()
	p.conditions()
	for i := range r.Tables {
		p.table(&r.Tables[i])
	}
	p.shortfalls()
	p.notes()
	return p.String()
}

type page struct {
	strings.Builder
	*Report
	reasons  Reasons
	pictures string
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) head() {
	p.printf(`# Performance: Strand beside Open MPI, MPICH and raw sockets

This page is made by a command, and says what one machine showed once. Do not edit it; why a cell falls short is said in %s/reasons.txt.

    %s

All contenders run on one host, started anew for each of %d rounds. In a round they take turns, block by block, in each cell. A ratio is the median of the
rounds' ratios, in brackets its interval of at least 95 %%. Ping-pongs are compared by time, Strand's over the peer's, so that less is better; all else by
rate, Strand's over the peer's, so that more is. Peers run with their defaults and as they should be fastest; the better one counts, for each cell. Raw is two
sockets that spin, without headers or matching.

**✗** marks a cell whose whole interval is on the wrong side of its aim, **✗✗** one that is also further off than %.2f times; ? one that is not decided:
fewer than %d rounds, an interval that has the aim within it and whose ends are more than %.1f times apart, or Strand failed there in some round. What has no aim has no mark. Processor time is of all ranks, user and system:
Strand's, then raw's, Open MPI's and MPICH's. Who waits spins, so that two ranks which only talk use twice the time that passes.

`, p.pictures, p.Command, len(p.Rounds), mostOff, stats.Enough, mostWidth)
	if problems := p.Problems(); len(problems) > 0 {
		p.printf("**INVALID: the machine was not quiet.** %s. Run it again.\n\n", strings.Join(problems, "; "))
	}
}

// scores is a line for each table.
func (p *page) scores() {
	p.printf("## Summary\n\nA table passes if at most %.0f %% of its decided cells fail and none is further off than it may be.\n\n", 100*mostFail)
	p.printf("| table | decided | fail | far off | undecided | passes | furthest off |\n|---|---|---|---|---|---|---|\n")
	for i := range p.Tables {
		t := &p.Tables[i]
		s := t.score(p.Report)
		worst := ""
		if s.Worst != nil {
			worst = fmt.Sprintf("%s: %.2f, aim %.2f", strings.TrimPrefix(s.Worst.Path, t.Path()+"/"), s.Worst.Ratio.Value, s.Worst.Aim.Limit)
		}
		p.printf("| %s | %d | %d | %d | %d | %s | %s |\n", t.Path(), s.Judged, s.Failed, s.FarOff, s.Undecided, s.Word(), worst)
	}
	p.printf("\n")
}

// score is how a table of the report has done.
func (t *Table) score(r *Report) Score {
	return score(r.comparisons(t), len(t.Rows) > 0 && t.Rows[0].Workload.LessIsBetter())
}

func (p *page) conditions() {
	m := p.Machine
	p.printf("## Conditions\n\n| | |\n|---|---|\n")
	p.printf("| Strand | %s |\n", p.Commit)
	p.printf("| measured | %s, %d of %d rounds |\n", p.Began.UTC().Format("2006-01-02 15:04 UTC"), len(p.Rounds), p.Planned)
	p.printf("| machine | %d × %s, %d MB, %s %s, %s %s |\n", m.CPUs, m.CPU, m.MemoryBytes>>20, m.OS, m.Kernel, m.Arch, m.Go)
	p.printf("| congestion control | the kernel's is %s; Strand over TCP sets its own, that of the first raw below |\n", or(p.Congestion, "not known"))
	p.printf("| took | %v |\n| load | %s |\n| others' share of the processors | %s |\n", p.took(),
		p.span(func(r Round) float64 { return r.Load }, 1, ""), p.span(func(r Round) float64 { return r.Others }, 100, " %"))
	for _, c := range p.Contenders {
		p.printf("| %s, %s | %s |\n", c.Transport, c.Key(), c.About)
	}
	for _, why := range p.Missing {
		p.printf("| not here | %s |\n", why)
	}
	p.printf("\n")
}

func (p *page) took() time.Duration {
	var s float64
	for _, r := range p.Rounds {
		s += r.Seconds
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// span is the least, the middle and the most of something of the rounds.
func (p *page) span(of func(Round) float64, factor float64, unit string) string {
	var all []float64
	for _, r := range p.Rounds {
		all = append(all, of(r)*factor)
	}
	if len(all) == 0 {
		return "–"
	}
	slices.Sort(all)
	return fmt.Sprintf("%.1f to %.1f%s, middle round %.1f%s", all[0], all[len(all)-1], unit, stats.Quantile(all, 0.5), unit)
}

// table writes one table, with its picture.
func (p *page) table(t *Table) {
	columns := p.columns(t)
	p.printf("## %s: %s\n\n", t.Path(), titles[t.Name])
	if p.drawn(t) {
		p.printf("![%s: ratios by size](%s/%s.svg)\n\n", t.Path(), p.pictures, strings.ReplaceAll(t.Path(), "/", "-"))
	}
	p.printf("| %s | Strand |", or(heads[t.Name], "size"))
	if t.Name == pairs {
		p.printf(" MB/s |")
	}
	for _, c := range columns {
		p.printf(" ratio to %s |", peerTitles[c])
	}
	p.printf(" processor, %s |\n|---|---|%s---|\n", t.Rows[0].Workload.ProcessorUnit(), strings.Repeat("---|", len(columns)+p.more(t)))
	for i := range t.Rows {
		p.row(t, &t.Rows[i], columns)
	}
	p.printf("\n")
}

func (p *page) more(t *Table) int {
	if t.Name == pairs {
		return 1
	}
	return 0
}

// columns are the peers of a table. Those that are not here have their column all the same.
func (p *page) columns(t *Table) []string {
	if t.Transport == sm {
		return peerNames[1:]
	}
	return peerNames
}

func (p *page) row(t *Table, r *Row, columns []string) {
	own := stats.Median(present(r.Times[strandKey]))
	p.printf("| %s | %s |", t.label(r.Cell), figure(own, r.Workload.Figure(r.Size, own)))
	if t.Name == pairs {
		p.printf(" %s |", figure(own, float64(r.Size)/own))
	}
	processor := []string{p.processor(r, strandKey)}
	all := t.compare(r, columns)
	for _, peer := range columns {
		i := slices.IndexFunc(all, func(c Comparison) bool { return c.Peer == peer })
		if i < 0 {
			p.printf(" – |")
			processor = append(processor, "–")
			continue
		}
		key, _ := r.best(peer)
		processor = append(processor, p.processor(r, key))
		p.printf(" %s |", all[i].text())
	}
	p.printf(" %s |\n", strings.Join(processor, " / "))
}

func (p *page) processor(r *Row, key string) string {
	us := stats.Median(present(r.Processor[key]))
	return figure(us, r.Workload.Processor(r.Size, us))
}

// figure is a value, or a dash if what it is made of is not there.
func figure(from, value float64) string {
	if from <= 0 {
		return "–"
	}
	return bench.Digits(value)
}

// text is the ratio with its interval and mark.
func (c *Comparison) text() string {
	if c.Ratio.N == 0 && c.Verdict == NoAim {
		return "–"
	}
	text := figure(c.Ratio.Value, c.Ratio.Value)
	if i := c.Ratio.Interval; i.Sure() { // others are of less than 95 %
		text += fmt.Sprintf(" (%s–%s)", bench.Digits(i.Low), bench.Digits(i.High))
	}
	switch c.Verdict {
	case Fails:
		return "**✗** " + text
	case FarOff:
		return "**✗✗** " + text
	case Undecided:
		return "? " + text
	}
	return text
}

// shortfalls lists the cells that fail, with the reasons, and the reasons that nothing needs.
func (p *page) shortfalls() {
	p.printf("## Cells that fall short\n\n")
	all := p.comparisons(nil)
	failed := slices.DeleteFunc(slices.Clone(all), func(c Comparison) bool { return !c.Verdict.failed() })
	if len(failed) == 0 {
		p.printf("None.\n\n")
	} else {
		p.printf("| cell | ratio | aim | reason, profile |\n|---|---|---|---|\n")
		for _, c := range failed {
			p.printf("| %s | %s | %.2f | %s |\n", c.Path, c.text(), c.Aim.Limit, or(p.reasons.For(c.Path), "*no reason is given yet*"))
		}
		p.printf("\n")
	}
	if stale := p.reasons.Stale(all); len(stale) > 0 {
		p.printf("Reasons in %s/reasons.txt whose cells no longer fall short:\n\n", p.pictures)
		for _, s := range stale {
			p.printf("- %s: %s\n", s.Cells, s.Text)
		}
		p.printf("\n")
	}
}

func (p *page) notes() {
	if len(p.Notes) == 0 {
		return
	}
	p.printf("## What went wrong\n\n")
	for _, n := range p.Notes {
		p.printf("- %s\n", strings.Join(strings.Fields(n), " "))
	}
	p.printf("\n")
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
