package tcp

import (
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

const (
	// copyLimit is up to which size, header and payload, a frame is copied
	// behind those that wait; copying that much costs less than another piece
	// to gather.
	copyLimit = 4 << 10
	// flushAt is how much may be held back before it goes out.
	flushAt = 16 << 10
	// outSize bounds the copied bytes; more are not taken until the system has
	// room again.
	outSize = 64 << 10
	// maxQueued bounds the long frames that the system has no room for.
	maxQueued = 8
)

// A sender is the sending half of a connection. What waits is a sequence of
// bytes: those of out, with the payloads of long frames set in between. Before
// each payload, head bytes of out are to go, after the last one the rest of out.
type sender struct {
	out    []byte // copied bytes: prefixes, headers and small payloads
	lo, hi int    // what of it waits

	frames [maxQueued]queued // a ring of the long frames that wait
	first  int
	count  int
	tail   int // bytes of out after the last long frame

	epoch    uint64 // of the loop, at the last frame that went at once
	blocked  bool   // the system has no room; the loop tells when it has
	deferred bool   // the loop will call Flush
	refused  bool   // Busy was returned and Writable is due
}

// queued is a long frame that waits.
type queued struct {
	frame *btl.Frame
	head  int // bytes of out before its payload
}

func (s *sender) init(first []byte) {
	refused := s.refused
	*s = sender{out: make([]byte, outSize), epoch: ^uint64(0), refused: refused}
	s.hi = copy(s.out, first)
	s.tail = s.hi
}

// discard forgets all frames.
func (s *sender) discard() {
	clear(s.frames[:])
	s.out = nil
	s.lo, s.hi, s.first, s.count, s.tail, s.blocked = 0, 0, 0, 0, 0, false
}

// reserve returns room for n more bytes at the end of out, or nil.
func (s *sender) reserve(n int) []byte {
	if len(s.out)-s.hi < n {
		if len(s.out)-(s.hi-s.lo) < n {
			return nil
		}
		s.hi = copy(s.out, s.out[s.lo:s.hi])
		s.lo = 0
	}
	b := s.out[s.hi : s.hi+n]
	s.hi += n
	s.tail += n
	return b
}

// roomy reports whether it is worth while to offer frames again.
func (s *sender) roomy() bool {
	return s.count < maxQueued && s.hi-s.lo <= len(s.out)/2
}

// enqueue appends a long frame whose prefix and header were the last to go to
// out.
func (s *sender) enqueue(f *btl.Frame) {
	s.frames[(s.first+s.count)%maxQueued] = queued{f, s.tail}
	s.count++
	s.tail = 0
}

// take removes the first long frame.
func (s *sender) take() *btl.Frame {
	f := s.frames[s.first].frame
	s.frames[s.first] = queued{}
	s.first = (s.first + 1) % maxQueued
	s.count--
	return f
}

// whole reports whether the first long frame has been sent.
func (s *sender) whole() bool {
	if s.count == 0 {
		return false
	}
	q := &s.frames[s.first]
	return q.head == 0 && q.frame.Progress == q.frame.Size
}

// queued counts the bytes that wait.
func (s *sender) queued() int {
	n := s.hi - s.lo
	for i := range s.count {
		f := s.frames[(s.first+i)%maxQueued].frame
		n += f.Size - f.Progress
	}
	return n
}

// gather puts what waits into v, as far as v takes it.
func (s *sender) gather(v *rawio.Vector) {
	pos := s.lo
	for i := range s.count {
		q := &s.frames[(s.first+i)%maxQueued]
		if q.head > 0 {
			if !v.Add(s.out[pos : pos+q.head]) {
				return
			}
			pos += q.head
		}
		if !addPayload(v, q.frame) {
			return
		}
	}
	if s.hi > pos {
		v.Add(s.out[pos:s.hi])
	}
}

func addPayload(v *rawio.Vector, f *btl.Frame) bool {
	if len(f.More) == 0 {
		return f.Progress == f.Size || v.Add(f.Payload[f.Progress:f.Size])
	}
	room := true
	f.Pieces(f.Progress, func(p []byte) bool {
		room = v.Add(p)
		return room
	})
	return room
}

// sent takes note of n bytes that the system took. Frames that are whole stay
// in the ring until release.
func (s *sender) sent(n int) {
	for i := range s.count {
		if n == 0 {
			break
		}
		q := &s.frames[(s.first+i)%maxQueued]
		k := min(n, q.head)
		q.head -= k
		s.lo += k
		n -= k
		k = min(n, q.frame.Size-q.frame.Progress)
		q.frame.Progress += k
		n -= k
	}
	s.lo += n
	s.tail -= n
	if s.lo == s.hi {
		s.lo, s.hi = 0, 0
	}
}

// remainder copies what waits, for a connection that outlives its endpoint, and
// ends it with a goodbye.
func (s *sender) remainder() []byte {
	b := make([]byte, 0, s.queued()+prefixSize)
	pos := s.lo
	for i := range s.count {
		q := &s.frames[(s.first+i)%maxQueued]
		b = append(b, s.out[pos:pos+q.head]...)
		pos += q.head
		q.frame.Pieces(q.frame.Progress, func(p []byte) bool {
			b = append(b, p...)
			return true
		})
	}
	b = append(b, s.out[pos:s.hi]...)
	b = b[:len(b)+prefixSize]
	prefix{kind: kindGoodbye}.put(b[len(b)-prefixSize:])
	return b
}

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	if ep.state != stateConnected || ep.failure != nil {
		return ep.sendUnconnected()
	}
	if len(f.Header)+f.Size <= copyLimit {
		return ep.sendSmall(f)
	}
	return ep.sendLong(f)
}

// sendUnconnected starts to connect at the first frame.
func (ep *endpoint) sendUnconnected() btl.Result {
	switch ep.state {
	case stateClosed:
		ep.sender.refused = true
		ep.dial = &dial{ep: ep}
		ep.dial.start()
		return btl.Busy
	case stateConnecting, stateConnectAck:
		ep.sender.refused = true
		return btl.Busy
	}
	return btl.Broken
}

func (ep *endpoint) sendSmall(f *btl.Frame) btl.Result {
	s := &ep.sender
	head := prefixSize + len(f.Header)
	b := s.reserve(head + f.Size)
	if b == nil {
		s.refused = true
		return btl.Busy
	}
	prefix{payload: f.Size, header: len(f.Header), kind: kindData}.put(b)
	copy(b[prefixSize:], f.Header)
	f.CopyPayload(b[head:])
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(len(b))
	if s.blocked {
		return btl.Done
	}
	if now := ep.m.loop.Epoch(); now != s.epoch {
		s.epoch = now
	} else if s.hi-s.lo < flushAt {
		if !s.deferred {
			s.deferred = true
			ep.m.loop.Flush(ep)
		}
		return btl.Done
	}
	if !ep.push() {
		return btl.Broken
	}
	return btl.Done
}

func (ep *endpoint) sendLong(f *btl.Frame) btl.Result {
	s := &ep.sender
	head := prefixSize + len(f.Header)
	if s.count == maxQueued {
		s.refused = true
		return btl.Busy
	}
	b := s.reserve(head)
	if b == nil {
		s.refused = true
		return btl.Busy
	}
	prefix{payload: f.Size, header: len(f.Header), kind: kindData}.put(b)
	copy(b[prefixSize:], f.Header)
	f.Progress = 0
	s.enqueue(f)
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(head + f.Size)
	if s.blocked {
		return btl.Taken
	}
	// What waits is this frame alone and copied ones before it.
	s.epoch = ep.m.loop.Epoch()
	if !ep.push() {
		s.discardFrames()
		return btl.Broken
	}
	if s.whole() {
		s.take()
		return btl.Done
	}
	return btl.Taken
}

// discardFrames gives up the long frames only.
func (s *sender) discardFrames() {
	for s.count > 0 {
		s.take()
	}
}

// push gives the system what waits, as far as there is room, and reports whether
// the connection is well. It makes no up-call.
func (ep *endpoint) push() bool {
	s := &ep.sender
	for {
		n, size, errno := ep.write()
		if errno != 0 && errno != syscall.EAGAIN {
			ep.broken(errno)
			return false
		}
		if n > 0 {
			s.sent(n)
		}
		if n < size {
			// A short count means that the system has no more room.
			if !s.blocked {
				s.blocked = true
				ep.watch.Write(true)
			}
			return true
		}
		if s.hi == s.lo && (s.count == 0 || s.complete()) {
			return true
		}
	}
}

// complete reports whether nothing waits but whole frames.
func (s *sender) complete() bool {
	last := &s.frames[(s.first+s.count-1)%maxQueued]
	return last.head == 0 && last.frame.Progress == last.frame.Size
}

const (
	// segment is the most that the loopback interface carries at once: 64 KB less
	// the headers.
	segment = 65483
	// firstOfTwo is the first part of a frame that is a little longer than that.
	firstOfTwo = 52 << 10
)

// crumb reports whether a frame that begins now, with size bytes, would make one
// full segment and a small one. It is better cut into two: the peer takes the
// first from the system while the second goes there. (64 KB, the commonest long
// message, is such a frame; the cut saves an eighth of its time.)
func (s *sender) crumb(size int) bool {
	q := &s.frames[s.first]
	return size > segment && size <= segment+segment/4 &&
		s.count == 1 && q.head > 0 && q.frame.Progress == 0
}

// write makes one system call, and returns what it took and was offered.
func (ep *endpoint) write() (n, size int, errno syscall.Errno) {
	s := &ep.sender
	ep.counters.SendCalls++
	if s.count == 0 {
		b := s.out[s.lo:s.hi]
		n, errno = ep.conn.Send(b)
		return n, len(b), errno
	}
	v := &ep.m.vector
	s.gather(v)
	if ep.nearby && s.crumb(v.Size()) {
		v.Limit(firstOfTwo)
	}
	size = v.Size()
	n, errno = ep.conn.Sendv(v)
	v.Reset()
	return n, size, errno
}

// resume goes on after the system had no room, and reports whether anything was
// sent.
func (ep *endpoint) resume() bool {
	s := &ep.sender
	before := s.queued()
	if !ep.live() || ep.failure != nil || !ep.push() {
		return false
	}
	if s.hi == s.lo && (s.count == 0 || s.complete()) {
		s.blocked = false
		ep.watch.Write(false)
	}
	if s.queued() == before {
		return false
	}
	// All that is whole leaves the ring before the first up-call, which may send.
	var whole [maxQueued]*btl.Frame
	n := 0
	for ; s.whole(); n++ {
		whole[n] = s.take()
	}
	for _, f := range whole[:n] {
		if ep.live() {
			ep.recv.Released(f)
		}
	}
	if ep.live() && s.refused && s.roomy() {
		s.refused = false
		ep.recv.Writable()
	}
	return true
}

// Flush implements [btl.Deferred] and [btl.Flusher].
func (ep *endpoint) Flush() {
	ep.sender.deferred = false
	if ep.live() && ep.failure == nil && !ep.sender.blocked && ep.sender.hi > ep.sender.lo {
		ep.push()
	}
}

// Queued implements [btl.Flusher].
func (ep *endpoint) Queued() int { return ep.sender.queued() }
