package recovery

import "time"

// RoundTrip estimates how long an answer takes: RFC 9002, section 5, which is RFC 6298 but for the
// receiver's delay.
type RoundTrip struct {
	Latest, Smoothed, Variation int64 // 0: not known
	Least                       int64 // of this spell and the one before; 0: not known
	spell                       spell
}

// A spell is how long a least round trip counts: a path may come to be slower, and without that would be taken for a quick one for ever
// (RFC 9002, section 5.2). It takes some samples too, since those of a process that was stopped are long.
type spell struct {
	began, least int64
	samples      int
}

const (
	leastSpell   = int64(10 * time.Second)
	spellSamples = 8
)

// note takes a sample, and returns the least round trip if that was the last one of the spell; 0: it was not.
func (s *spell) note(now, sample int64) (least int64) {
	if s.samples == 0 || sample < s.least {
		s.least = sample
	}
	if s.samples++; s.samples < spellSamples || now-s.began < leastSpell {
		return 0
	}
	least = s.least
	*s = spell{began: now}
	return least
}

// granularity is what the clocks and timers of hosts can tell apart.
const granularity = int64(time.Millisecond)

// add takes a sample. The receiver says for how long it has held the answer back.
func (r *RoundTrip) add(now, sample, held int64) {
	r.Latest = max(sample, 1)
	if r.Smoothed == 0 {
		r.spell = spell{began: now}
		r.Least, r.Smoothed, r.Variation = r.Latest, r.Latest, r.Latest/2
		return
	}
	if r.Least == 0 || r.Latest < r.Least {
		r.Least = r.Latest
	}
	if least := r.spell.note(now, r.Latest); least != 0 {
		r.Least = least
	}
	adjusted := r.Latest
	if adjusted >= r.Least+held {
		adjusted -= held
	}
	r.Variation += (abs(r.Smoothed-adjusted) - r.Variation) / 4
	r.Smoothed += (adjusted - r.Smoothed) / 8
}

func abs(n int64) int64 { return max(n, -n) }
