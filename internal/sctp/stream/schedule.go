package stream

import "fmt"

// A scheduler gives each queue its turn: the least is served first (RFC 8260, section 3). What a turn is
// counted in is up to the scheduler.
type scheduler struct {
	kind   kind
	now    uint64 // the turn that is being served, or was the last to be
	places []uint16
}

type kind uint8

const (
	fcfs kind = iota // the message that came first
	rr               // the streams by turns
	prio             // the stream whose place is the lowest; equal ones by turns
	wfq              // each stream has bytes by its weight
	fc               // each stream has as many bytes
)

var kinds = map[string]kind{"": fcfs, "fcfs": fcfs, "rr": rr, "prio": prio, "wfq": wfq, "fc": fc}

func newScheduler(name string, places []uint16) (scheduler, error) {
	kind, ok := kinds[name]
	if !ok {
		return scheduler{}, fmt.Errorf("there is no scheduler %q", name)
	}
	return scheduler{kind: kind, places: places}, nil
}

// place is a stream's place with prio, its weight with wfq. The last of the list counts for all further
// streams.
func (s *scheduler) place(stream uint16) uint16 {
	if len(s.places) == 0 {
		return 0
	}
	return s.places[min(int(stream), len(s.places)-1)]
}

// cost is how much later the next turn of a stream is after so many bytes: start-time fair queueing (Goyal,
// Vin and Cheng, IEEE/ACM Transactions on Networking 5(5), 1997).
func (s *scheduler) cost(stream uint16, bytes int) uint64 {
	weight := uint64(1)
	if s.kind == wfq {
		weight = uint64(max(s.place(stream), 1))
	}
	return uint64(bytes) * byteCost / weight
}

const (
	// byteCost is a byte of a stream of weight 1: weights have 16 bits.
	byteCost = 1 << 16
	// mostAhead bounds how far a stream's turn can be ahead of the present one. If it seems to be further
	// ahead it is behind: turns wrap around.
	mostAhead = 1 << 60
)

// join gives a queue that was empty its turn.
func (s *scheduler) join(q *queue) {
	switch s.kind {
	case fcfs:
		q.turn = q.head.arrival
	case rr, prio:
		s.now++
		q.turn = s.now
	default: // what it did not ask for it does not get later
		if q.turn-s.now > mostAhead {
			q.turn = s.now
		}
	}
	if s.kind == prio {
		q.place = s.place(q.head.Stream)
	}
}

// begin notes that a queue is served.
func (s *scheduler) begin(q *queue) {
	if s.kind == wfq || s.kind == fc {
		s.now = q.turn
	}
}

// served gives a queue its next turn, after so many bytes.
func (s *scheduler) served(q *queue, stream uint16, bytes int) {
	switch s.kind {
	case fcfs:
		if q.head != nil {
			q.turn = q.head.arrival
		}
	case rr, prio:
		s.now++
		q.turn = s.now
	default:
		q.turn += s.cost(stream, bytes)
	}
}
