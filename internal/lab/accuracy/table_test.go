//go:build linux

package accuracy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/stats"
)

// String gives for a delay the range of the middle 80 % of what was seen, and for a loss the
// interval that chance allows at 95 %. The wire itself says how late it sent frames, and how many
// it lost that it should not have lost.
func (r Result) String() string {
	between := ""
	if r.High > 0 {
		between = ", " + r.text(r.Low) + " – " + r.text(r.High)
	}
	return fmt.Sprintf("%s: asked %s, got %s (%s%s), late (99 %%) %v, spoilt %d",
		r.What, r.text(r.Asked), r.text(r.Got), r.difference(), between, r.Wire.Wire.Late99.Round(time.Microsecond), r.Wire.Wire.Spoilt())
}

func (b Bout) String() string {
	text := func(values []float64) string {
		s := stats.Summarize(values)
		return fmt.Sprintf("%.2f (%.2f – %.2f)", s.Median/1e6, s.Interval.Low/1e6, s.Interval.High/1e6)
	}
	r := b.Ratio()
	return fmt.Sprintf("loss %.1f %%, Mbit/s in user space %s, by netem %s; ratio %.2f, %.2f – %.2f at %.0f %%",
		b.Loss*100, text(b.UserSpace), text(b.Netem), r.Value, r.Interval.Low, r.Interval.High, r.Interval.Level*100)
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
		return "none expected"
	}
	return fmt.Sprintf("%+.1f %%", (r.Got/r.Asked-1)*100)
}
