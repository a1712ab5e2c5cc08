package emulate

import "time"

// A transmitter is one direction of a NIC with the queue before it.
type transmitter struct {
	rate  Rate
	limit Queue
	free  time.Duration // when all that was admitted has been sent

	// When each frame has been sent: a ring, if their number is bounded.
	leave       []time.Duration
	first, held int
}

// never is before any time.
const never = -1 << 62

func newTransmitter(n NIC) transmitter {
	t := transmitter{rate: n.Rate, limit: n.Queue.OrDefault(), free: never}
	if t.rate > 0 {
		t.leave = make([]time.Duration, t.limit.Frames)
	}
	return t
}

// admit takes a frame that came at a time. Its bits may be sent from another time on, which may
// be earlier. It returns when the frame has been sent, or false if the frame is dropped. From
// call to call at never goes back.
func (t *transmitter) admit(at, from time.Duration, size int) (sent time.Duration, ok bool) {
	if t.rate == 0 {
		return at, true
	}
	if !t.room(at, size) {
		return 0, false
	}
	t.free = max(t.free, from) + t.rate.duration(size)
	if len(t.leave) > 0 {
		t.leave[(t.first+t.held)%len(t.leave)] = t.free
		t.held++
	}
	return t.free, true
}

// room tells whether the queue's bounds let in another frame.
func (t *transmitter) room(at time.Duration, size int) bool {
	for t.held > 0 && t.leave[t.first] <= at {
		t.first = (t.first + 1) % len(t.leave)
		t.held--
	}
	if t.free <= at {
		return true
	}
	if len(t.leave) > 0 && t.held == len(t.leave) {
		return false
	}
	return t.limit.Bytes == 0 || t.rate.bytes(t.free-at)+float64(size) <= float64(t.limit.Bytes)
}
