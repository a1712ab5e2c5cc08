package rails

import "time"

// Over a far way a sign of life takes a round trip, however well the way is. So a rail may be silent for longer than
// pml_rail_timeout where its way has shown to be so far.

const (
	// roundTrips is for how many round trips a rail may be silent: what RFC 6298 waits for where nothing is known of their
	// variation (section 2.2).
	roundTrips = 3
	// mostTimeouts bounds that, in pml_rail_timeout: what is lost on a far way is not waited for much longer than elsewhere.
	mostTimeouts = 8
)

// trip is what is known of the round trip of a way: what its transport tells, or else what the last trial has shown.
type trip struct {
	last  time.Duration
	least time.Duration // that the transport has told since the rail was connected; 0: none
	tells bool          // it does tell
}

// begin notes that the rail is connected: its way may be another one now.
func (t *trip) begin() { t.least = 0 }

// told notes what the transport tells; 0: nothing.
func (t *trip) told(roundTrip time.Duration) {
	if roundTrip <= 0 {
		return
	}
	t.last, t.tells = roundTrip, true
	if t.least == 0 || roundTrip < t.least {
		t.least = roundTrip
	}
}

// answered notes how long a probe has taken. The longest of a trial counts.
func (t *trip) answered(took time.Duration, first bool) {
	switch {
	case t.tells:
	case first:
		t.last = took
	default:
		t.last = max(t.last, took)
	}
}

// timeout is for how long the rail may be silent.
func (t *trip) timeout(e Env) time.Duration { return within(t.last, e) }

// unqueued is that without what a round trip takes because more stands in the queues of the way. Where a way comes to carry
// next to nothing, these make its round trip longer and longer.
func (t *trip) unqueued(e Env) time.Duration {
	if t.least > 0 {
		return within(t.least, e)
	}
	return t.timeout(e)
}

func within(roundTrip time.Duration, e Env) time.Duration {
	return min(max(e.RailTimeout, roundTrips*roundTrip), mostTimeouts*e.RailTimeout)
}
