package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/stats"
)

// WriteHead writes the heading of the columns that WriteRow writes, as the OSU
// programs do.
func (d *Direct) WriteHead(out io.Writer, ranks int) error {
	first := d.Cells[0]
	heading := map[Workload]string{
		PingPong: "ping-pong: half the round trip",
		Exchange: "exchange: both send and receive a message at the same time",
		Stream:   "stream: " + windows(d.Cells),
		Burst:    fmt.Sprintf("bursts: %s after computing for %v", windows(d.Cells), first.Pause),
		Rate:     "message rate: " + windows(d.Cells),
		Coll:     fmt.Sprintf("collective calls of %d ranks", ranks),
		Pairs:    fmt.Sprintf("pairs: %d at once, all together, %s", ranks/2, windows(d.Cells)),
	}
	columns := "# Size    "
	switch first.Workload {
	case PingPong, Exchange:
	case Coll:
		columns = fmt.Sprintf("%-10s %-13s", columns, "Call")
	default:
		columns = fmt.Sprintf("%-10s %8s", columns, "Window")
	}
	for _, c := range d.columns() {
		columns += fmt.Sprintf(" %*s", columnWidth(c), c)
	}
	_, err := fmt.Fprintf(out, "# Strand %s\n%s\n", heading[first.Workload], columns)
	return err
}

// windows puts the windows of cells into words.
func windows(cells []Cell) string {
	low, high := cells[0].Window, cells[0].Window
	for _, c := range cells {
		low, high = min(low, c.Window), max(high, c.Window)
	}
	if low == high {
		return fmt.Sprintf("windows of %d messages", low)
	}
	return fmt.Sprintf("windows of %d to %d messages", low, high)
}

// columns are the headings of a row's figures.
func (d *Direct) columns() []string {
	var columns []string
	switch d.Cells[0].Workload {
	case PingPong, Exchange, Coll:
		columns = []string{"Latency (us)"}
	case Burst:
		columns = []string{"Bandwidth (MB/s)", "beside the computing (%)"}
	case Stream:
		columns = []string{"Bandwidth (MB/s)"}
	default:
		columns = []string{"MB/s", "Messages/s"}
	}
	return append(columns, "Processor (us)")
}

func columnWidth(heading string) int { return max(18, len(heading)) }

// A Connection is one that rank 0 had up in a measurement.
type Connection struct {
	Ranks  int    `json:"ranks"` // of the job
	Module string `json:"module"`
	Desc   string `json:"desc"`
	// Congestion is the algorithm that controls it, which decides about large messages; empty: none that is known.
	Congestion string `json:"congestion,omitempty"`
}

// Connections are those that this rank has up.
func Connections(w *strand.World) []Connection {
	all := []Connection{}
	for _, r := range w.Rails() {
		if !r.Up {
			continue
		}
		c := Connection{Ranks: w.Size(), Module: r.Module, Desc: r.Desc}
		if r.Congestion != nil {
			c.Congestion = r.Congestion.Algorithm
		}
		all = append(all, c)
	}
	return all
}

// WriteFoot writes which connections were up in the measurement.
func WriteFoot(out io.Writer, w *strand.World) error {
	for _, c := range Connections(w) {
		control := ""
		if c.Congestion != "" {
			control = ", congestion control " + c.Congestion
		}
		if _, err := fmt.Fprintf(out, "# %s %s%s\n", c.Module, c.Desc, control); err != nil {
			return err
		}
	}
	return nil
}

// WriteRow writes one line of the table. MB are a million bytes, the processor time is that of
// all ranks for a message.
func (d *Direct) WriteRow(out io.Writer, r Row) error {
	line := fmt.Sprintf("%-10d", r.Size)
	var figures []string
	w := d.Cells[0].Workload
	switch w {
	case PingPong, Exchange:
	case Coll:
		line += fmt.Sprintf(" %-13s", r.Call)
	default:
		line += fmt.Sprintf(" %8d", r.Window)
	}
	switch w {
	case PingPong, Exchange, Coll:
		figures = []string{fmt.Sprintf("%.2f", r.Time)}
	case Burst:
		figures = []string{fmt.Sprintf("%.2f", r.Megabyte), fmt.Sprintf("%.2f", r.Beside)}
	case Stream:
		figures = []string{fmt.Sprintf("%.2f", r.Megabyte)}
	default:
		figures = []string{fmt.Sprintf("%.2f", r.Megabyte), fmt.Sprintf("%.0f", r.Messages)}
	}
	for i, c := range d.columns() {
		line += fmt.Sprintf(" %*s", columnWidth(c), append(figures, fmt.Sprintf("%.2f", r.Processor))[i])
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// WriteTable writes the comparison for people.
func (r *Result) WriteTable(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Strand %s: %s", r.Workload, r.Workload.Unit())
	if r.Window > 0 {
		fmt.Fprintf(&b, ", windows of %d messages", r.Window)
	}
	if r.Pause != "" {
		fmt.Fprintf(&b, ", each after computing for %s", r.Pause)
	}
	fmt.Fprintf(&b, "\n# %d short blocks of each, alternating; lower quartile of their times, in brackets the median\n", r.Blocks)
	if len(r.Peers) > 0 {
		fmt.Fprintf(&b, "# ratio: %s", r.Workload.ratioMeaning())
		if r.Blocks >= stats.Enough {
			b.WriteString("; of lower quartiles, and in brackets the 95 % interval of the median ratio, block by block")
		}
		b.WriteString("\n")
	}
	b.WriteString("# processor: user and system time of all ranks, median; strand's, then the others'\n")
	if r.Transports != "" {
		fmt.Fprintf(&b, "# strand: --btl %s\n", r.Transports)
	}
	for _, p := range r.Peers {
		fmt.Fprintf(&b, "# %s: %s\n", strings.TrimSpace(p.Name+" "+p.Variant), p.About)
	}
	if slices.ContainsFunc(r.Rows, func(row CompareRow) bool { return row.Size == 0 }) {
		r.writeEmpty(&b)
	}
	if r.hasVariants() {
		b.WriteString("# of several variants the better one counts, for each size\n")
	}
	if len(r.Rows) > 0 {
		r.writeRows(&b)
	}
	r.writeVerdict(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeEmpty says who has no empty messages.
func (r *Result) writeEmpty(b *strings.Builder) {
	for _, name := range []string{rawName, rawUDPName} {
		if slices.ContainsFunc(r.Peers, func(p PeerAbout) bool { return p.Name == name }) {
			fmt.Fprintf(b, "# size 0: %s sends one byte in its place\n", name)
		}
	}
}

func (r *Result) hasVariants() bool {
	for i, p := range r.Peers {
		if i > 0 && r.Peers[i-1].Name == p.Name {
			return true
		}
	}
	return false
}

func (r *Result) writeRows(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells []string) { fmt.Fprintln(table, strings.Join(cells, "\t")+"\t") }
	heads := []string{"size", "strand"}
	if r.Workload == Pairs {
		heads = []string{"pairs", "size", "MB/s", "strand"}
	}
	if r.Workload == Coll {
		heads = []string{"ranks", "call", "size", "strand"}
	}
	if r.hasWindows() {
		heads = append([]string{"window"}, heads...)
	}
	for _, p := range r.Rows[0].Peers {
		heads = append(heads, p.Name, "ratio")
		if p.Name == rawName {
			heads = append(heads, "spread")
		}
	}
	line(append(heads, "processor "+r.Workload.ProcessorUnit()))
	for _, row := range r.Rows {
		line(r.columns(row))
	}
	// It writes into memory.
	_ = table.Flush()
}

// hasWindows tells whether rows differ by their windows.
func (r *Result) hasWindows() bool { return r.Window == 0 && !r.Workload.LessIsBetter() }

func (r *Result) columns(row CompareRow) []string {
	columns := []string{FormatSize(row.Size), r.figures(row.Size, row.Strand)}
	if r.Workload == Pairs {
		columns = []string{strconv.Itoa(row.Pairs), columns[0], Digits(float64(row.Size) / row.Strand.LowerQuartile), columns[1]}
	}
	if r.Workload == Coll {
		columns = append([]string{strconv.Itoa(row.Ranks), string(row.Call)}, columns...)
	}
	if r.hasWindows() {
		columns = append([]string{strconv.Itoa(row.Window)}, columns...)
	}
	processor := []string{r.processor(row.Size, row.Strand)}
	for _, p := range row.Peers {
		figures := r.figures(row.Size, p.Times)
		if r.hasVariants() && p.Variant != "" {
			figures += " " + p.Variant
		}
		columns = append(columns, figures, p.ratio())
		if p.Name == rawName {
			columns = append(columns, fmt.Sprintf("%.0f %%", 100*p.Times.Spread()))
		}
		processor = append(processor, r.processor(row.Size, p.Times))
	}
	return append(columns, strings.Join(processor, " / "))
}

// processor is the processor time, or a dash: NetPIPE does not tell it.
func (r *Result) processor(size int, s Summary) string {
	if s.Processor == 0 {
		return "–"
	}
	return Digits(r.Workload.Processor(size, s.Processor))
}

// ratio is the ratio and, in brackets, its interval.
func (a *Against) ratio() string {
	if a.Interval == nil {
		return fmt.Sprintf("%.2f", a.Ratio)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", a.Ratio, a.Interval[0], a.Interval[1])
}

// figures are the lower quartile and, in brackets, the median.
func (r *Result) figures(size int, s Summary) string {
	return fmt.Sprintf("%.2f (%.2f)", r.Workload.Figure(size, s.LowerQuartile), r.Workload.Figure(size, s.Median))
}

func (r *Result) writeVerdict(b *strings.Builder) {
	switch {
	case r.Valid == nil:
		fmt.Fprintf(b, "# not judged: raw took no part (--against raw); %s\n", r.Criterion)
	case *r.Valid:
		fmt.Fprintf(b, "# VALID: %s\n", r.Criterion)
	default:
		fmt.Fprintf(b, "# INVALID: %s\n", strings.Join(r.Problems, "; "))
		fmt.Fprintf(b, "# %s; try again when the machine is quiet\n", r.Criterion)
	}
}
