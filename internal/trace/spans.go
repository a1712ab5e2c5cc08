package trace

import "math"

// A span is something that lasts: a send, a receive, a wait, a collective call.
type span struct {
	begin, end int64
	class      class
	posted     Event // what it began with
	matched    int64 // when it found its other side; 0: never
	peer       int32 // who that was, of a receive
	tag        int32
	seq        uint32
	bytes      uint64
	bound      bool   // the message is known
	rail       string // over which a send began
	failed     bool
	unfinished bool
	arrived    int64 // when the message of a receive came, if that was before its receive; 0: it was not
}

type class uint8

const (
	call class = iota
	wait
	send
	receive
	classes
)

// A point is something that does not last.
type point struct {
	at    int64
	event Event
}

// history is what a rank's events say.
type history struct {
	spans      []*span
	unexpected []point
	last       int64
}

// message names one: of all ranks no two have the same.
type message struct {
	context  uint64
	from, to int32
	seq      uint32
}

// classOf and the others say what begins and ends a span.
var classOf = [kinds]class{SendPosted: send, SendShort: send, ReceivePosted: receive, WaitBegun: wait, CallBegun: call}

// historyOf joins the events of a rank. What ends something whose beginning was dropped is left out.
func historyOf(r *Rank) *history {
	h := &history{last: math.MinInt64}
	open := make(map[uint64]*span)
	sends := make(map[message]*span)
	early := make(map[message]int64)
	for _, e := range r.Events {
		h.last = max(h.last, e.Time)
		switch e.Kind {
		case SendPosted, SendShort, ReceivePosted, WaitBegun, CallBegun:
			s := &span{begin: e.Time, end: e.Time, class: classOf[e.Kind], posted: e, peer: e.Peer, tag: e.Tag, seq: e.Seq, bytes: e.Bytes}
			h.spans = append(h.spans, s)
			if s.class == send {
				s.bound = true
				sends[message{e.Context, int32(r.Rank), e.Peer, e.Seq}] = s
			}
			if e.Kind != SendShort {
				s.unfinished = true
				open[e.Op] = s
			}
		case SendOver:
			if s := sends[message{e.Context, int32(r.Rank), e.Peer, e.Seq}]; s != nil {
				s.rail = r.Name(e.Name)
			}
		case SendMatched:
			if s := open[e.Op]; s != nil {
				s.matched = e.Time
			}
		case ReceiveMatched:
			if s := open[e.Op]; s != nil {
				s.matched, s.bound, s.peer, s.tag, s.seq, s.bytes = e.Time, true, e.Peer, e.Tag, e.Seq, e.Bytes
				name := message{e.Context, e.Peer, int32(r.Rank), e.Seq}
				s.arrived = early[name]
				delete(early, name)
			}
		case Unexpected:
			h.unexpected = append(h.unexpected, point{e.Time, e})
			early[message{e.Context, e.Peer, int32(r.Rank), e.Seq}] = e.Time
		case SendDone, ReceiveDone, WaitOver, CallOver:
			if s := open[e.Op]; s != nil {
				s.end, s.failed, s.unfinished = e.Time, e.Failed, false
				delete(open, e.Op)
			}
		}
	}
	for _, s := range open {
		s.end = h.last
	}
	return h
}

// key names the message of a span of the rank.
func (s *span) key(rank int) message {
	if s.class == send {
		return message{s.posted.Context, int32(rank), s.peer, s.seq}
	}
	return message{s.posted.Context, s.peer, int32(rank), s.seq}
}

// came is when the receiver of a message first knew of it.
func (s *span) came() int64 {
	if s.arrived != 0 {
		return s.arrived
	}
	return s.matched
}
