package tcp

import "github.com/strandmp/strand/btl"

var _ btl.Recaller = (*endpoint)(nil)

// Recall implements [btl.Recaller].
func (ep *endpoint) Recall() int {
	if !ep.Live() || ep.failure != nil {
		return 0
	}
	ep.settleSending()
	copied := ep.sender.recall()
	if ep.Refused() {
		ep.m.loop.Post(ep.offer) // perhaps no frame is left whose sending would offer room
	}
	return copied
}

// offer tells the host that there is room, if there is and the host waits for it.
func (ep *endpoint) offer() {
	if ep.Live() && ep.failure == nil && ep.sender.roomy() {
		ep.Ready()
	}
}

// recall takes every long frame, with its prefix and header, out of what waits. If one was
// begun, a copy of its rest takes its place. Recall returns the length of that copy.
func (s *sender) recall() (copied int) {
	from, to, head := s.lo, s.lo, 0
	keep := func(n int) {
		to += copy(s.out[to:], s.out[from:from+n])
		from += n
		head += n
	}
	var begun queued
	trail := 0 // of the frame before, which goes with it
	for s.count > 0 {
		q := s.frames[s.first]
		s.take()
		from += trail
		q.head -= trail
		trail = 0
		switch f := q.frame; {
		case q.head == 0 && f.Progress == f.Size: // sent
		case q.ours:
			keep(q.head)
			begun, head = queued{frame: f, head: head, ours: true}, 0
		case q.head >= q.own: // not begun
			keep(q.head - q.own)
			from += q.own
			trail = q.trail
		default:
			keep(q.head)
			rest := make([]byte, 0, f.Size-f.Progress)
			f.Pieces(f.Progress, func(p []byte) bool {
				rest = append(rest, p...)
				return true
			})
			copied = len(rest)
			begun, head = queued{frame: &btl.Frame{Payload: rest, Size: len(rest)}, head: head, ours: true}, 0
		}
	}
	from += trail
	keep(s.hi - from)
	if s.hi, s.tail = to, head; s.hi == s.lo {
		s.rest()
		s.lo, s.hi = 0, 0
	}
	if begun.frame != nil {
		s.frames[s.first], s.count = begun, 1
	}
	return copied
}
