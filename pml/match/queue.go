package match

// messageQueue is a first-in-first-out list of messages of which any may be
// taken out. It is a ring of pointers: one that is taken from the middle leaves
// a hole, and its neighbours, wherever in memory they are, are not touched. The
// zero value is ready.
type messageQueue struct {
	ring       []*Message // a power of two
	head, tail uint64     // counted from the beginning of time; head is no hole
	live       int
	kind       int // which of a message's places is the one in this queue
}

func (q *messageQueue) at(place uint64) **Message { return &q.ring[place&uint64(len(q.ring)-1)] }

// first returns the oldest message or nil.
func (q *messageQueue) first() *Message {
	if q.live == 0 {
		return nil
	}
	return *q.at(q.head)
}

func (q *messageQueue) append(m *Message) {
	if q.tail-q.head == uint64(len(q.ring)) {
		q.makeRoom()
	}
	*q.at(q.tail) = m
	m.places[q.kind] = q.tail
	q.tail++
	q.live++
}

func (q *messageQueue) remove(m *Message) {
	place := m.places[q.kind]
	*q.at(place) = nil
	if q.live--; q.live == 0 {
		q.head = q.tail
		if len(q.ring) > keptRing {
			q.ring = nil // it was made for a peak
		}
		return
	}
	for *q.at(q.head) == nil {
		q.head++
	}
}

const (
	minRing  = 16
	keptRing = 1 << 15 // the longest ring that an empty queue keeps
)

// makeRoom closes the holes, if they are half of the ring or more, so that its
// cost spread over what has been taken out is constant; else the ring grows.
func (q *messageQueue) makeRoom() {
	from := *q
	if 2*q.live >= len(q.ring) {
		q.ring = make([]*Message, max(minRing, 2*len(q.ring)))
	}
	q.tail, q.live = q.head, 0
	for place := from.head; place != from.tail; place++ {
		at := from.at(place)
		if m := *at; m != nil {
			*at = nil
			*q.at(q.tail) = m
			m.places[q.kind] = q.tail
			q.tail++
			q.live++
		}
	}
}
