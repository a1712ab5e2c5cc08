package recovery

import "time"

// RoundTrip estimates how long an answer takes: RFC 9002, section 5, which is RFC 6298 but for the
// receiver's delay.
type RoundTrip struct {
	Latest, Smoothed, Variation int64 // 0: not known
	Least                       int64 // 0: not known
}

// granularity is what the clocks and timers of hosts can tell apart.
const granularity = int64(time.Millisecond)

// add takes a sample. The receiver says for how long it has held the answer back.
func (r *RoundTrip) add(sample, held int64) {
	r.Latest = max(sample, 1)
	if r.Smoothed == 0 {
		r.Least, r.Smoothed, r.Variation = r.Latest, r.Latest, r.Latest/2
		return
	}
	if r.Least == 0 || r.Latest < r.Least {
		r.Least = r.Latest
	}
	adjusted := r.Latest
	if adjusted >= r.Least+held {
		adjusted -= held
	}
	r.Variation += (abs(r.Smoothed-adjusted) - r.Variation) / 4
	r.Smoothed += (adjusted - r.Smoothed) / 8
}

func abs(n int64) int64 { return max(n, -n) }
