package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/param"
)

// WriteHead writes the heading of the columns that WriteRow writes, as the OSU
// programs do.
func (d *Direct) WriteHead(out io.Writer) error {
	heading := map[Workload]string{
		PingPong: fmt.Sprintf("# Strand ping-pong: half the round trip\n%-10s %18s\n", "# Size", "Latency (us)"),
		Stream:   fmt.Sprintf("# Strand stream: windows of %d messages\n%-10s %18s\n", d.Window, "# Size", "Bandwidth (MB/s)"),
		Burst:    fmt.Sprintf("# Strand bursts: windows of %d messages after computing for %v\n%-10s %18s %24s\n", d.Window, d.Pause, "# Size", "Bandwidth (MB/s)", "beside the computing (%)"),
		Rate:     fmt.Sprintf("# Strand message rate: windows of %d messages\n%-10s %18s %18s\n", d.Window, "# Size", "MB/s", "Messages/s"),
	}
	_, err := io.WriteString(out, heading[d.Workload])
	return err
}

// WriteFoot writes which connections were up in the measurement, each with its congestion
// control, which decides about large messages.
func WriteFoot(out io.Writer, w *strand.World) error {
	for _, r := range w.Rails() {
		if !r.Up {
			continue
		}
		control := ""
		if r.Congestion != nil && r.Congestion.Algorithm != "" {
			control = ", congestion control " + r.Congestion.Algorithm
		}
		if _, err := fmt.Fprintf(out, "# %s %s%s\n", r.Module, r.Desc, control); err != nil {
			return err
		}
	}
	return nil
}

// WriteRow writes one line of the table. MB are a million bytes.
func (d *Direct) WriteRow(out io.Writer, r Row) error {
	var err error
	switch d.Workload {
	case PingPong:
		_, err = fmt.Fprintf(out, "%-10d %18.2f\n", r.Size, r.Time)
	case Burst:
		_, err = fmt.Fprintf(out, "%-10d %18.2f %24.2f\n", r.Size, r.Megabyte, r.Beside)
	case Stream:
		_, err = fmt.Fprintf(out, "%-10d %18.2f\n", r.Size, r.Megabyte)
	default:
		_, err = fmt.Fprintf(out, "%-10d %18.2f %18.0f\n", r.Size, r.Megabyte, r.Messages)
	}
	return err
}

// unit says what the figures of a comparison are.
func (w Workload) unit() string {
	switch w {
	case PingPong:
		return "half round trip in µs"
	case Stream, Burst:
		return "bandwidth in MB/s"
	}
	return "thousand messages a second"
}

// figure expresses the time of a message in the workload's unit.
func (w Workload) figure(size int, us float64) float64 {
	switch w {
	case PingPong:
		return us
	case Stream, Burst:
		return float64(size) / us
	}
	return 1000 / us
}

// ratioMeaning says what a ratio is and which way is better.
func (w Workload) ratioMeaning() string {
	if w == PingPong {
		return "strand's time over the peer's, less is better"
	}
	return "strand over the peer, more is better"
}

// WriteTable writes the comparison for people.
func (r *Result) WriteTable(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Strand %s: %s", r.Workload, r.Workload.unit())
	if r.Window > 0 {
		fmt.Fprintf(&b, ", windows of %d messages", r.Window)
	}
	if r.Pause != "" {
		fmt.Fprintf(&b, ", each after computing for %s", r.Pause)
	}
	fmt.Fprintf(&b, "\n# %d short blocks of each, alternating; lower quartile of their times, in brackets the median\n", r.Blocks)
	fmt.Fprintf(&b, "# ratio: %s\n", r.Workload.ratioMeaning())
	if r.Transports != "" {
		fmt.Fprintf(&b, "# strand: --btl %s\n", r.Transports)
	}
	for _, p := range r.Peers {
		fmt.Fprintf(&b, "# %s: %s\n", p.Name, p.About)
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
	fmt.Fprint(table, "size\tstrand\t")
	for _, p := range r.Rows[0].Peers {
		fmt.Fprintf(table, "%s\tratio\t", p.Name)
		if p.Name == rawName {
			fmt.Fprint(table, "spread\t")
		}
	}
	fmt.Fprintln(table)
	for _, row := range r.Rows {
		fmt.Fprintf(table, "%s\t%s\t", param.FormatSize(int64(row.Size)), r.cell(row.Size, row.Strand))
		for _, p := range row.Peers {
			cell := r.cell(row.Size, p.Times)
			if r.hasVariants() && p.Variant != "" {
				cell += " " + p.Variant
			}
			fmt.Fprintf(table, "%s\t%.2f\t", cell, p.Ratio)
			if p.Name == rawName {
				fmt.Fprintf(table, "%.0f %%\t", 100*p.Times.Spread())
			}
		}
		fmt.Fprintln(table)
	}
	// It writes into memory.
	_ = table.Flush()
}

// cell is the lower quartile and, in brackets, the median.
func (r *Result) cell(size int, s Summary) string {
	return fmt.Sprintf("%.2f (%.2f)", r.Workload.figure(size, s.LowerQuartile), r.Workload.figure(size, s.Median))
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
