package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// Bounds of how late the emulator may be; beyond them what was measured is the machine's doing.
// Frames may be late by a tenth of the delay on the average. Where the tail is what was measured,
// one frame in a hundred may be late by all of the delay. A delay of less than 2 ms counts as
// 2 ms: no machine that does other things too is more exact.
const (
	leastDelay = 2 * time.Millisecond
	onTheWhole = 0.1 // of the delay
)

// tailMetrics are those that one late frame in a hundred decides.
var tailMetrics = []string{results.RoundTrip9, results.Delay99, results.DelayMax, results.RoundTime9}

// lateness is how late the frames of a variant were, in the median of its runs. The median will
// do, since fewer than half of the rounds move no interval past 1.
type lateness struct{ mean, most time.Duration }

func latenessOf(runs []results.Run) (l lateness, known bool) {
	var mean, most []float64
	for _, r := range runs {
		if r.Network != nil && r.Network.LateSeconds > 0 {
			mean, most = append(mean, r.Network.LateMeanSeconds), append(most, r.Network.LateSeconds)
		}
	}
	duration := func(seconds []float64) time.Duration {
		return time.Duration(min(stats.Median(seconds), time.Hour.Seconds()) * float64(time.Second))
	}
	return lateness{duration(mean), duration(most)}, len(most) > 0
}

// tooLate says by how much the emulator was late for what was measured of a variant in a cell;
// "" if it was little beside the delay.
func tooLate(c *results.Cell, variant string, m results.Metric) string {
	l, known := latenessOf(c.Of(variant))
	if !known || c.Link == nil {
		return ""
	}
	delay := max(c.Delay(), leastDelay)
	// Results that do not have the average are judged by the tail.
	byTail := l.mean == 0 || slices.Contains(tailMetrics, m.Name)
	onWhole := float64(l.mean) > onTheWhole*float64(delay)
	inTail := byTail && l.most > delay
	if !onWhole && !inTail {
		return ""
	}
	return fmt.Sprintf("frames late by %s; the delay is %v", l, c.Delay())
}

// String is for people.
func (l lateness) String() string {
	most := "over " + quantity(results.Seconds, l.most.Seconds()) + " for 1 %"
	if l.mean == 0 {
		return most
	}
	return quantity(results.Seconds, l.mean.Seconds()) + " on the average, " + most
}

// lateNotice says in how many cells the emulator was too late; "" if it was nowhere.
func lateNotice(r *results.Report) string {
	late := 0
	for i := range r.Cells {
		c := &r.Cells[i]
		m := r.MetricOf(c.Workload.Workload())
		if slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return tooLate(c, v.Name, m) != "" }) {
			late++
		}
	}
	if late == 0 {
		return ""
	}
	return fmt.Sprintf("The emulated network was late beside its delay in %d of %d cells, as their rows say: what was measured there is the machine as much as the transports, and there is no verdict. Have it do nothing else meanwhile, or ask for longer delays, lower rates or fewer ranks.", late, len(r.Cells))
}
