package stream

import (
	"errors"
	"math"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Sending is how messages are sent.
type Sending struct {
	// Streams is how many there are, from 0 on.
	Streams int
	// Interleave has messages travel in I-DATA chunks: those of several streams can be under way by turns,
	// fragment by fragment.
	Interleave bool
	// Scheduler is "fcfs" (or ""), "rr", "prio", "fc" or "wfq".
	Scheduler string
	// Places are the streams' places with prio, the lower the sooner, or their weights with wfq. The last
	// one counts for all further streams.
	Places []uint16
}

// Outgoing is the messages that are to be sent.
type Outgoing struct {
	scheduler  scheduler
	streams    []queue
	turns      turns
	open       *queue // DATA: whose first message was begun, and has to be ended before another
	spent      int    // bytes of it since it got its turn
	interleave bool
	queued     int
	arrivals   uint64
}

// A queue is the messages of a stream.
type queue struct {
	head, tail         *Message
	place              uint16
	turn               uint64
	index              int    // in the turns
	ordered, unordered uint32 // numbers of the next messages
}

// leastFragment is the shortest fragment that is worth its header, but for a message's last one.
const leastFragment = 64

// What [Outgoing.Push] refuses.
var (
	ErrStream = errors.New("there is no such stream")
	ErrSize   = errors.New("a message has at least one byte, and less than 4 GB")
)

// NewOutgoing returns queues without a message.
func NewOutgoing(c Sending) (*Outgoing, error) {
	s, err := newScheduler(c.Scheduler, c.Places)
	if err != nil {
		return nil, err
	}
	return &Outgoing{scheduler: s, streams: make([]queue, c.Streams), interleave: c.Interleave}, nil
}

// Interleave reports whether messages travel in I-DATA chunks.
func (o *Outgoing) Interleave() bool { return o.interleave }

// Queued is how many bytes are not in fragments yet.
func (o *Outgoing) Queued() int { return o.queued }

// Push takes a message. After an error it was not taken.
func (o *Outgoing) Push(m *Message) error {
	switch {
	case int(m.Stream) >= len(o.streams):
		return ErrStream
	case m.Size <= 0 || uint64(m.Size) > math.MaxUint32:
		return ErrSize
	}
	m.next, m.arrival, m.cut, m.cuts, m.open = nil, o.arrivals, 0, 0, 0
	o.arrivals++
	o.queued += m.Size
	q := &o.streams[m.Stream]
	if q.head != nil {
		q.tail.next, q.tail = m, m
		return nil
	}
	q.head, q.tail = m, m
	o.scheduler.join(q)
	o.turns.add(q)
	return nil
}

// Next cuts the next fragment off for a packet that has room for so many bytes of chunks, where one that is
// empty has room for full. There is none if the rest of a message is better left to the next packet: it fits
// that whole, or only few bytes of it fit this one.
func (o *Outgoing) Next(room, full int) (f Fragment, ok bool) {
	q := o.open
	if q == nil {
		if len(o.turns) == 0 {
			return Fragment{}, false
		}
		q = o.turns[0]
	}
	m, head := q.head, header(o.interleave)
	left := m.Size - m.cut
	n := min(left, room&^3-head)
	if n <= 0 || n < left && room < full && (n < leastFragment || chunk.Padded(head+left) <= full) {
		return Fragment{}, false
	}
	if m.cut == 0 {
		q.number(m, o.interleave)
	}
	f = Fragment{Message: m, Offset: uint32(m.cut), Length: uint32(n), Number: m.cuts}
	o.cut(q, m, n)
	return f, true
}

// number gives a message its number as it is begun, so that TSNs and numbers of a stream go the same way.
func (q *queue) number(m *Message, interleave bool) {
	switch {
	case !m.Unordered:
		m.number = q.ordered
		q.ordered++
	case interleave:
		m.number = q.unordered
		q.unordered++
	default:
		m.number = 0
	}
	if !interleave {
		m.number &= math.MaxUint16
	}
}

// cut notes that so many bytes are in a fragment, and passes the turn on.
func (o *Outgoing) cut(q *queue, m *Message, n int) {
	if o.open == nil {
		o.scheduler.begin(q)
	}
	o.queued -= n
	o.spent += n
	m.cut += n
	m.cuts++
	m.open++
	whole := m.cut == m.Size
	if whole {
		q.head, m.next = m.next, nil
	}
	if o.open = nil; !whole && !o.interleave {
		o.open = q
		return
	}
	o.scheduler.served(q, m.Stream, o.spent)
	o.spent = 0
	if q.head == nil {
		q.tail = nil // or each stream would keep the memory of its last message
		o.turns.remove(q)
	} else {
		o.turns.fix(q.index)
	}
}
