package udp

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/recovery"
)

// A sender cuts frames into parts, puts parts into packets, and keeps what was sent until it has arrived.
//
// A frame is held until all of its parts have arrived. So no copy is made of it: what is lost is sent
// again from the frame itself.
type sender struct {
	path *recovery.Path[*piece]
	mtu  recovery.MTU

	first, last *outgoing // frames that are held, in the order of their numbers
	urgent      queue     // of them, those that are not cut to their ends: what goes first,
	normal      queue     // and the others
	again       list      // pieces that were lost
	paused      list      // pieces that were lost again and again, and are not to be sent yet
	resumes     int64     // when one of them is, at the earliest
	number      uint64    // of the next frame
	queued      int       // bytes that were not sent yet,
	waits       int       // and those in again and paused
	answers     uint64    // numbers of packets that only acknowledge
	epoch       uint64
	deferred    bool  // a flush is due
	blocked     bool  // the system has no room,
	since       int64 // since when
	untaken     bool  // what is given back was not sent: the system has not taken it
	unheard     bool  // what is given back was sent while nothing was heard
	probes      int   // packets that have to be sent, to be acknowledged
	forgets     bool  // the peer tells of numbers that are of no interest any more
	bye         byte  // whether the end is to be said
	spare       list  // pieces that are free
	free        *outgoing
	done        *outgoing // frames to be released
	ranges      []recovery.Range
}

const (
	byeLater = 1 + iota // when all has arrived
	byeDue
	byeSent
	byeArrived
)

// An outgoing is a frame that is held.
type outgoing struct {
	frame      *btl.Frame
	number     uint64
	cut        int // bytes of the payload that are in pieces
	whole      bool
	pieces     int // that have not arrived
	prev, next *outgoing
	behind     *outgoing // in its queue
}

// A queue is of frames that are to be cut.
type queue struct{ head, tail *outgoing }

func (q *queue) push(o *outgoing) {
	if q.head == nil {
		q.head = o
	} else {
		q.tail.behind = o
	}
	q.tail = o
}

func (q *queue) pop() { q.head, q.head.behind = q.head.behind, nil }

// A piece is a part of a frame that is in one packet at a time, or waits to be sent again. One without a
// frame is something else that was in a packet.
type piece struct {
	of             *outgoing
	offset, length int
	what           byte  // itemPing, itemBye
	sends          uint8 // how often it was sent,
	at             int64 // and when last
	lost           bool  // and was lost
	next           *piece
}

// A list of pieces, first in first out.
type list struct{ head, tail *piece }

func (l *list) push(p *piece) {
	p.next = nil
	if l.head == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
}

// take takes all.
func (l *list) take() (first *piece) {
	first, l.head = l.head, nil
	return first
}

func (l *list) pop() *piece {
	p := l.head
	if p != nil {
		l.head, p.next = p.next, nil
	}
	return p
}

const (
	// mostFrames may be held, so that the receiver can know those apart that it has had. 100 Mbit/s with a round trip of 160 ms
	// hold as many of 64 bytes each.
	mostFrames = 16 << 10
	// leastQueue and mostQueue bound what waits to be sent, in bytes: twice the window, within these.
	leastQueue = 256 << 10
	mostQueue  = 8 << 20
	// copied payloads are no longer than this: what one packet of a network carries. Such pieces cost the system more than
	// their bytes cost us, and without them a batch is one piece.
	copied = 2 << 10
)

func (s *sender) live() bool { return s.path != nil }

// room reports whether another frame is taken. One that is urgent does not wait for the others.
func (s *sender) room(urgent bool) bool {
	most := min(max(2*s.path.Window(), leastQueue), mostQueue)
	return (urgent || s.queued < most) && (s.first == nil || s.number-s.first.number < mostFrames)
}

func (s *sender) take(f *btl.Frame, urgent bool) {
	o := s.free
	if o == nil {
		o = new(outgoing)
	} else {
		s.free = o.next
	}
	*o = outgoing{frame: f, number: s.number, prev: s.last}
	s.number++
	if s.last == nil {
		s.first = o
	} else {
		s.last.next = o
	}
	s.last = o
	if urgent {
		s.urgent.push(o)
	} else {
		s.normal.push(o)
	}
	s.queued += f.Size
}

// remove ends the holding of a frame.
func (s *sender) remove(o *outgoing) {
	if o.prev == nil {
		s.first = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		s.last = o.prev
	} else {
		o.next.prev = o.prev
	}
}

func (s *sender) piece() *piece {
	if p := s.spare.pop(); p != nil {
		p.sends, p.lost = 0, false
		return p
	}
	return new(piece)
}

// uncut reports whether there are frames that were not sent to their ends.
func (s *sender) uncut() bool { return s.urgent.head != nil || s.normal.head != nil }

// idle reports whether there is nothing to send, and nothing under way.
func (s *sender) idle() bool { return s.first == nil }

// wants reports whether there is anything to put into a packet.
func (s *sender) wants() bool { return s.wanting() || s.probes > 0 }

// wanting reports whether there is more than a probe.
func (s *sender) wanting() bool { return s.again.head != nil || s.uncut() || s.bye == byeDue }

// Arrived implements [recovery.Owner].
func (s *sender) Arrived(p *piece, size int, kind recovery.Kind) {
	if kind&recovery.Sounding != 0 && s.mtu.Passed(size) {
		s.path.Resize(s.mtu.Size())
	}
	for p != nil {
		rest := p.next
		if o := p.of; o != nil {
			if o.pieces--; o.pieces == 0 && o.whole {
				s.remove(o)
				o.next, s.done = s.done, o
			}
		} else if p.what == itemBye {
			s.bye = byeArrived
		}
		p.of = nil
		s.spare.push(p)
		p = rest
	}
}

// Lost implements [recovery.Owner].
func (s *sender) Lost(p *piece, size int, kind recovery.Kind) {
	switch {
	case kind&recovery.Sounding == 0:
	case s.untaken:
		s.mtu.Untaken(size)
	default:
		s.mtu.Lost(size)
	}
	s.giveBack(p, true)
}

// resume has sent again what has paused for long enough.
func (s *sender) resume(now int64) {
	if s.resumes == 0 || now < s.resumes {
		return
	}
	s.resumes = 0
	for p, rest := s.paused.take(), (*piece)(nil); p != nil; p = rest {
		rest = p.next
		if until := s.until(p); until > now {
			s.pause(p, until)
		} else {
			s.again.push(p)
		}
	}
}

func (s *sender) pause(p *piece, until int64) {
	s.paused.push(p)
	s.resumes = earlier(s.resumes, until)
}

// until is for how long a piece that is lost is to wait.
func (s *sender) until(p *piece) int64 { return p.at + s.path.Pause(int(p.sends)) }

// giveBack has the pieces of a packet sent again. What was lost may have to pause, but not what was not sent. What was sent while nothing
// got through is lost no more often than all else, however often that was.
func (s *sender) giveBack(p *piece, lost bool) {
	for p != nil {
		rest := p.next
		switch {
		case p.of != nil:
			if s.untaken {
				p.sends--
				lost = false
			}
			p.lost = p.lost || lost
			if s.unheard {
				p.sends = 1
			}
			s.waits += p.length
			if until := s.until(p); lost && until > p.at {
				s.pause(p, until)
			} else {
				s.again.push(p)
			}
			p = rest
			continue
		case p.what == itemBye && s.bye == byeSent:
			s.bye = byeDue
		}
		s.spare.push(p)
		p = rest
	}
}

// repeat has a probe carry what has been under way for longest: what is missing at the end of a message comes
// with the probe, and not a round trip after it. What has been so for less than an answer takes stays where it is: the answer may be on its
// way, and would say nothing of what is in another packet by then.
func (s *sender) repeat(now int64) {
	s.probes = 1
	if s.path.Unanswered() > 1 {
		s.probes = 2 // one more may be lost: RFC 9002, section 6.2.4
	}
	if s.wanting() {
		return // what is new, or was lost, is as good
	}
	for range s.probes {
		pieces, _ := s.path.Reclaim(func(p *piece) bool { return p != nil && now-p.at >= s.path.Latest })
		s.giveBack(pieces, false)
	}
}

// shrink has packets be shorter, since those of the present length do not get through. It reports false if they
// are as short as all paths carry.
func (s *sender) shrink() bool {
	shorter := s.mtu.Shrunk()
	if shorter {
		s.path.Resize(s.mtu.Size())
	}
	return shorter
}

// forget drops all frames: their memory is the host's again.
func (s *sender) forget() {
	*s = sender{}
}
