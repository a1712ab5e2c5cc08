//go:build linux

package accuracy

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/stats"
)

const row = "%-6s %13s %13s %9s   %-23s %14v %8v\n"

// WriteHead writes the line above a table's. Delays have the range of the middle
// 80 % of what was seen, losses the interval that chance allows them at 95 %. The wire itself
// says how late it has sent frames, and how many it has lost that it should not have.
func WriteHead(out io.Writer) error {
	_, err := fmt.Fprintf(out, row, "", "asked", "got", "error", "within (80 %, 95 %)", "late (99 %)", "spoilt")
	return err
}

// WriteRow writes a result as a line of a table.
func (r Result) WriteRow(out io.Writer) error {
	between := ""
	if r.High > 0 {
		between = r.text(r.Low) + " – " + r.text(r.High)
	}
	_, err := fmt.Fprintf(out, row,
		r.What, r.text(r.Asked), r.text(r.Got), r.difference(), between, r.Wire.Wire.Late99.Round(time.Microsecond), r.Wire.Wire.Spoilt())
	return err
}

const bout = "%8s   %-25s  %-25s  %5s   %s\n"

// WriteHead writes the lines above a contest's table.
func (c Contest) WriteHead(out io.Writer) error {
	level := stats.Summarize(make([]float64, c.Runs)).Interval.Level * 100
	_, err := fmt.Fprintf(out, "TCP (%s), %v, %v one way, Mbit/s: medians of %d runs; intervals at %.0f %%\n"+bout,
		c.Congestion, c.Link.Rate, c.Link.Delay, c.Runs, level, "loss", "user space", "netem", "ratio", "interval")
	return err
}

// WriteRow writes a bout as a line of a table.
func (b Bout) WriteRow(out io.Writer) error {
	text := func(values []float64) string {
		s := stats.Summarize(values)
		return fmt.Sprintf("%.2f (%.2f – %.2f)", s.Median/1e6, s.Interval.Low/1e6, s.Interval.High/1e6)
	}
	r := b.Ratio()
	_, err := fmt.Fprintf(out, bout, strconv.FormatFloat(b.Loss*100, 'f', 1, 64)+" %", text(b.UserSpace), text(b.Netem),
		strconv.FormatFloat(r.Value, 'f', 2, 64), fmt.Sprintf("%.2f – %.2f", r.Interval.Low, r.Interval.High))
	return err
}

func (r Result) text(value float64) string {
	switch r.What {
	case Delay:
		return strconv.FormatFloat(value*1e3, 'f', 3, 64) + " ms"
	case Rate:
		return strconv.FormatFloat(value/float64(emulate.Mbit), 'f', 1, 64) + " Mbit/s"
	}
	return strconv.FormatFloat(value*100, 'f', 3, 64) + " %"
}

// difference is absolute for delays, which something always adds to, and relative
// otherwise.
func (r Result) difference() string {
	switch {
	case r.What == Delay:
		return fmt.Sprintf("%+.0f µs", (r.Got-r.Asked)*1e6)
	case r.Asked == 0:
		return ""
	}
	return fmt.Sprintf("%+.1f %%", (r.Got/r.Asked-1)*100)
}
