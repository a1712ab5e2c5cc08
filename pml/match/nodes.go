package match

// Any stands for every source, or every tag, in a receive or a probe.
const Any int32 = -1

// The four kinds of receive, by what they leave open.
const (
	exact     = 0
	anyTag    = 1
	anySource = 2
	anyBoth   = anyTag | anySource
	kinds     = 4
)

func kindOf(source, tag int32) int {
	k := exact
	if source == Any {
		k |= anySource
	}
	if tag == Any {
		k |= anyTag
	}
	return k
}

// A Recv is a receive, as far as matching is concerned.
type Recv struct {
	Source, Tag int32
	// Owner is the caller's.
	Owner any

	posted     bool
	place      uint64 // in posting order
	next, prev *Recv  // in its list
}

// Posted reports whether the receive waits for a message.
func (r *Recv) Posted() bool { return r.posted }

// A Message is a message that has arrived, as far as matching is concerned.
type Message struct {
	Source, Tag  int32
	Seq, LaneSeq uint32
	// Owner is the caller's.
	Owner any

	channel *Channel
	lane    *Lane
	state
	links  [3]link   // in the lists for one source, for any source, and tagOnly
	places [2]uint64 // in the queues for one source and for any source
}

// state is how far a message has come.
type state struct {
	inSeq    bool // every lower number of its sender has arrived
	inLane   bool // every lower number of its lane has arrived
	tagReady bool // inSeq or inLane
	seqReady bool // inSeq, or tagReady where ordering is relaxed
	held     bool // was held when it became tag-ready
	listed   bool // in the lists that receives of its tag look at
	queued   bool // in the queues that receives of any tag look at
	tagOnly  bool // in the list of that name

	tagAt, seqAt uint64 // when it became tag-ready, and seq-ready
}

// The lists and queues of a message. A receive of its tag looks at a list, of
// those messages that are tag-ready; a receive of any tag looks at a queue, of
// those that are seq-ready.
const (
	ofItsSource = 0
	ofAnySource = 1
	// tagOnly is one more list of the context: of the messages that wait and are
	// tag-ready but not seq-ready, in the order in which they became so. A receive
	// for any tag may hold them.
	tagOnly = 2
)

type link struct{ next, prev *Message }

// Lists are doubly linked and first-in-first-out. Only the head is kept: before
// it comes the tail. What is alone in its list touches no other.

// appendRecv returns the head of the list with r at its end.
func appendRecv(head, r *Recv) *Recv {
	r.next = nil
	if head == nil {
		r.prev = r
		return r
	}
	tail := head.prev
	r.prev, tail.next, head.prev = tail, r, r
	return head
}

// removeRecv returns the head of the list without r.
func removeRecv(head, r *Recv) *Recv {
	next, prev := r.next, r.prev
	r.next, r.prev = nil, nil
	if r == head {
		if next != nil {
			next.prev = prev
		}
		return next
	}
	if prev.next = next; next == nil {
		next = head
	}
	next.prev = prev
	return head
}

// appendMessage returns the head of the list with m at its end.
func appendMessage(head, m *Message, list int) *Message {
	l := &m.links[list]
	l.next = nil
	if head == nil {
		l.prev = m
		return m
	}
	tail := head.links[list].prev
	l.prev, tail.links[list].next, head.links[list].prev = tail, m, m
	return head
}

// removeMessage returns the head of the list without m.
func removeMessage(head, m *Message, list int) *Message {
	next, prev := m.links[list].next, m.links[list].prev
	m.links[list] = link{}
	if m == head {
		if next != nil {
			next.links[list].prev = prev
		}
		return next
	}
	if prev.links[list].next = next; next == nil {
		next = head
	}
	next.links[list].prev = prev
	return head
}
