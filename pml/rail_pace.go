package pml

import "time"

// Over a slow rail a copy takes a small part of the time that the bytes take. What counts there is that both directions are
// always in use. The answer to a request to send waits behind what the answering side sends itself: in an exchange of two long
// messages the second one would begin when the first one has gone. So a message does not wait for an answer where credit
// allows it, even if it may have to be copied at its receiver.

const (
	// slowSpeed is the speed, in bytes a second, below which a rail is slow: 2 Gbit/s. A copy takes a twentieth of the time or less.
	slowSpeed = 250_000_000
	// slowPiece is the longest piece of a long message over a slow rail. What the rail has taken goes before an answer; so it
	// takes the next one when the last one is in the system's hands.
	slowPiece = 128 << 10
	// paceFor is how long, in nanoseconds, a speed that was asked for holds.
	paceFor = int64(10 * time.Millisecond)
)

// pace is what is known of a rail's speed.
type pace struct {
	known bool // which means that the peer is on another machine
	slow  bool
	until int64 // it holds until then
}

// isSlow reports whether the rail is known to be slow.
func (r *rail) isSlow() bool { return r.paced().slow }

// paced is what is known of the rail's speed now.
func (r *rail) paced() *pace {
	p := &r.pace
	if r.meter == nil {
		return p
	}
	if now := r.pml.engine.Now(); now >= p.until {
		if speed := r.meter.Speed(); speed > 0 {
			p.known, p.slow = true, speed < slowSpeed
		} // else little was sent since, and it is what it was
		p.until = now + paceFor
	}
	return p
}

// unasked is how much of a message, of most bytes at the most, goes over a slow rail without having asked. What is longer than a
// frame of the rail goes in parts, if its frames bear numbers.
func (r *rail) unasked(most int) int {
	switch {
	case r.attr.EagerFixed:
		return min(most, r.attr.EagerLimit)
	case r.peer.local:
		return min(most, r.attr.MaxFrame)
	}
	return most
}

// portion is how much of a long message, of n bytes that are left, goes into a frame over the rail when it is the only one.
func (r *rail) portion(n int) int {
	if !r.retains() && r.isSlow() {
		return min(n, slowPiece)
	}
	return n
}

// retains reports whether most of what the rail has taken and not released is under way. With others it has still to be sent.
func (r *rail) retains() bool { return r.attr.Confirms || r.attr.Retains }

// holdsLong reports whether the transport holds what it has taken for longer than a copy takes: for a round trip. Within this machine
// that is short.
func (r *rail) holdsLong() bool { return r.attr.Confirms || r.attr.Retains && r.paced().known }

// laden reports whether pieces of long messages wait until a slow rail has less to send.
func (r *rail) laden() bool {
	_, bytes := r.line.Holds()
	return bytes >= slowPiece && !r.retains() && r.isSlow()
}
