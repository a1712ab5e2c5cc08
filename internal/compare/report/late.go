package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/stats"
)

// How late the emulator may be before what was measured is the machine's doing: the middle frame
// by a tenth of the delay, one in a hundred by all of it. A delay of 2 ms or less is taken for
// 2 ms: no machine that does other things too is more exact.
const (
	leastDelay   = 2 * time.Millisecond
	middleFrames = 0.1 // of the delay
)

// lateness is how late frames of a variant were: of its runs the middle one, since fewer than
// half of the rounds move no interval past 1.
type lateness struct{ middle, most time.Duration }

func latenessOf(runs []results.Run) (l lateness, known bool) {
	var middle, most []float64
	for _, r := range runs {
		if r.Network != nil && r.Network.LateSeconds > 0 {
			middle, most = append(middle, r.Network.LateMedianSeconds), append(most, r.Network.LateSeconds)
		}
	}
	duration := func(seconds []float64) time.Duration {
		return time.Duration(min(stats.Median(seconds), time.Hour.Seconds()) * float64(time.Second))
	}
	return lateness{duration(middle), duration(most)}, len(most) > 0
}

// tooLate says by how much the emulator was late for a variant in a cell; "" if it was little
// beside the delay.
func tooLate(c *results.Cell, variant string) string {
	l, known := latenessOf(c.Of(variant))
	if !known || c.Link == nil {
		return ""
	}
	delay := max(c.Link.Delay, leastDelay)
	if float64(l.middle) <= middleFrames*float64(delay) && l.most <= delay {
		return ""
	}
	return fmt.Sprintf("frames late by %s; the delay is %v", l, c.Link.Delay)
}

// String is for people.
func (l lateness) String() string {
	most := quantity(results.Seconds, l.most.Seconds())
	if l.middle == 0 { // older results do not have it
		return "over " + most + " for 1 %"
	}
	return fmt.Sprintf("%s in the middle, over %s for 1 %%", quantity(results.Seconds, l.middle.Seconds()), most)
}

// lateNotice says in how many cells the emulator was too late; "" if it was nowhere.
func lateNotice(r *results.Report) string {
	late := 0
	for i := range r.Cells {
		if slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return tooLate(&r.Cells[i], v.Name) != "" }) {
			late++
		}
	}
	if late == 0 {
		return ""
	}
	return fmt.Sprintf("The emulated network was late beside its delay in %d of %d cells, as their rows say: what was measured there is the machine as much as the transports, and there is no verdict. Have it do nothing else meanwhile, or ask for longer delays, lower rates or fewer ranks.", late, len(r.Cells))
}
