package match

// Any stands for every source, or every tag, in a receive or a probe.
const Any int32 = -1

// The four kinds of receive, by what they leave open. They index the lists that
// a message is in: a message that may match a kind of receive is in the list
// that such a receive looks at.
const (
	exact     = 0
	anyTag    = 1
	anySource = 2
	anyBoth   = anyTag | anySource
	kinds     = 4
)

// tagOnly is one more list of the context: of the messages that wait and are
// tag-ready but not seq-ready, in the order in which they became so. A receive
// for any tag may hold them.
const tagOnly = kinds

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

	channel  *Channel
	lane     *Lane
	inSeq    bool // every lower number of its sender has arrived
	inLane   bool // every lower number of its lane has arrived
	tagReady bool // inSeq or inLane
	seqReady bool // inSeq, or tagReady where ordering is relaxed
	held     bool // was held when it became tag-ready
	links    [kinds + 1]link
}

type link struct {
	next, prev *Message
	listed     bool
}

// recvList and messageList are doubly linked first-in-first-out lists.
type recvList struct{ head, tail *Recv }

func (l *recvList) append(r *Recv) {
	r.prev, r.next = l.tail, nil
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.next = r
	}
	l.tail = r
}

func (l *recvList) remove(r *Recv) {
	if r.prev == nil {
		l.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.next, r.prev = nil, nil
}

type messageList struct{ head, tail *Message }

func (l *messageList) append(m *Message, kind int) {
	k := &m.links[kind]
	k.prev, k.next, k.listed = l.tail, nil, true
	if l.tail == nil {
		l.head = m
	} else {
		l.tail.links[kind].next = m
	}
	l.tail = m
}

func (l *messageList) remove(m *Message, kind int) {
	k := &m.links[kind]
	if k.prev == nil {
		l.head = k.next
	} else {
		k.prev.links[kind].next = k.next
	}
	if k.next == nil {
		l.tail = k.prev
	} else {
		k.next.links[kind].prev = k.prev
	}
	*k = link{}
}
