package tcp

import (
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
)

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	if !ep.Live() || ep.failure != nil {
		return ep.Connect()
	}
	// A frame that follows another one of the same burst may be held back.
	s, burst := &ep.sender, ep.m.burst.Number(ep.m.loop)
	follows := burst == s.burst
	s.burst, s.follows = burst, follows
	if n := len(f.Header) + f.Size; n <= copyLimit || n <= s.gatherLimit && follows {
		return ep.sendSmall(f, follows)
	}
	return ep.sendLong(f)
}

func (ep *endpoint) sendSmall(f *btl.Frame, follows bool) btl.Result {
	s := &ep.sender
	p := s.prefix(f)
	b := s.reserve(p.Size())
	if b == nil {
		return ep.sendPressed(f)
	}
	f.CopyPayload(p.PutHead(b, f.Header))
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(len(b))
	if s.pauses() {
		return btl.Done
	}
	if follows && s.holdsBack(len(b)) {
		if !s.deferred {
			s.deferred = true
			ep.m.loop.Flush(ep)
		}
		return btl.Done
	}
	if !ep.pushNow() {
		return btl.Broken
	}
	return btl.Done
}

// holdsBack reports whether a frame of size bytes, which follows another one and was copied just now, waits for more.
func (s *sender) holdsBack(size int) bool {
	if size <= copyLimit {
		return s.hi-s.lo < flushAt
	}
	return s.hi-s.lo+size <= outSize // another one like it
}

// sendPressed is sendSmall for a frame that finds no room. If only what is held back is in the way, that goes out now. After a
// refusal nothing would tell that there is room when it has gone: [endpoint.Flush] makes no up-call.
func (ep *endpoint) sendPressed(f *btl.Frame) btl.Result {
	switch {
	case ep.sender.pauses():
		return ep.Refuse()
	case !ep.push():
		return btl.Broken
	case ep.sender.pauses():
		return ep.Refuse()
	}
	return ep.sendSmall(f, true) // nothing waits any more
}

// pushNow is push for a frame that has just come and goes at once.
func (ep *endpoint) pushNow() bool {
	well := ep.push()
	ep.m.burst.Sent(ep.m.loop)
	return well
}

func (ep *endpoint) sendLong(f *btl.Frame) btl.Result {
	s := &ep.sender
	if s.count == maxQueued {
		return ep.Refuse()
	}
	p := s.prefixOfLong(f)
	b := s.reserve(p.Head() + int(p.Trail))
	if b == nil {
		return ep.Refuse()
	}
	clear(p.PutHead(b, f.Header)) // what is filled in behind the payload
	f.Progress = 0
	s.enqueue(f, p)
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(p.Size())
	if s.pauses() {
		return btl.Taken
	}
	// Only this frame waits, and copied frames before it.
	if !ep.pushNow() {
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

// push gives the system what waits, as far as there is room, and reports whether the connection is well.
// Many bytes are sent soon, without the lock. It makes no up-call.
func (ep *endpoint) push() bool {
	ep.lookLater()
	if ep.sealed != nil {
		return ep.pushSealed()
	}
	s := &ep.sender
	for {
		n, size, errno := ep.write()
		if size > longCall {
			ep.sendApart()
			return true
		}
		if n > 0 {
			s.sent(n)
		}
		if !ep.wrote(n, size, errno) {
			return false
		}
		if s.pauses() || s.drained() {
			return true
		}
	}
}

// wrote looks at the outcome of a system call that was offered size bytes, and reports whether the
// connection is well.
func (ep *endpoint) wrote(n, size int, errno syscall.Errno) bool {
	if errno != 0 && errno != syscall.EAGAIN {
		ep.broken(errno)
		return false
	}
	if n < size {
		// A short count means that the system has no more room.
		ep.block()
	}
	return true
}

// block waits until the system has room again.
func (ep *endpoint) block() {
	if !ep.sender.blocked {
		ep.sender.blocked = true
		ep.watch.Write(true)
	}
}

// drained reports whether everything was sent. Long frames that are sent whole may still be in
// the ring.
func (s *sender) drained() bool {
	if s.hi != s.lo || s.count == 0 {
		return s.hi == s.lo
	}
	last := &s.frames[(s.first+s.count-1)%maxQueued]
	return last.head == 0 && last.frame.Progress == last.frame.Size
}

// firstOfTwo is the first part of a frame that is a little longer than a segment.
const firstOfTwo = 52 << 10

// crumb reports whether a frame of size bytes that begins now would make one full
// segment and a small one. It is better cut into two parts: the peer takes the first
// from the system while the second goes there. (64 KB, the commonest long message,
// makes such a frame; the cut saves an eighth of its time.) Where it follows another one the peer
// has that to take, and the second call takes a quarter more.
func (s *sender) crumb(size int) bool {
	q := &s.frames[s.first]
	return size > segment && size <= segment+segment/4 && !s.follows &&
		s.count == 1 && q.head > 0 && q.frame.Progress == 0
}

// longCall is the most that is sent under the loop's lock: a frame whose payload is that of a long
// move. There is no move for its few other bytes.
const longCall = btl.LongMove + framing.PrefixSize + btl.MaxHeader + 2*framing.MaxFill

// write makes one system call. It returns how many bytes the system took, and how many it was
// offered. If those are more than longCall there was no call.
func (ep *endpoint) write() (n, size int, errno syscall.Errno) {
	s := &ep.sender
	if s.count == 0 {
		ep.counters.SendCalls++
		b := s.out[s.lo:s.hi]
		n, errno = ep.conn.Send(b)
		return n, len(b), errno
	}
	v := &ep.m.vector
	s.gather(v)
	if ep.nearby && s.crumb(v.Size()) {
		v.Limit(firstOfTwo)
	}
	if size = v.Size(); size <= longCall {
		ep.counters.SendCalls++
		n, errno = ep.conn.Sendv(v)
	}
	v.Reset()
	return n, size, errno
}

// resume goes on after the system had no room, and reports whether anything was
// sent.
func (ep *endpoint) resume() bool {
	before := ep.Queued()
	if !ep.Live() || ep.failure != nil || ep.sender.sending.stage != noMove || !ep.push() {
		return false
	}
	return ep.sent(ep.Queued() < before)
}

// goOn goes on after a sending: with the rest of what waits, if the system has room.
func (ep *endpoint) goOn(n, size int, errno syscall.Errno) bool {
	if !ep.wrote(n, size, errno) {
		return false
	}
	if n == size && !ep.sender.drained() && !ep.push() {
		return false
	}
	return ep.sent(n > 0)
}

// sent gives back what was sent whole, if anything was sent.
func (ep *endpoint) sent(any bool) bool {
	s := &ep.sender
	if s.blocked && s.drained() && ep.sealed.waiting() == 0 {
		s.blocked = false
		ep.watch.Write(false)
	}
	if !any {
		return false
	}
	// All whole frames leave the ring before the first up-call: an up-call may send.
	var whole [maxQueued]*btl.Frame
	n := 0
	for ; s.whole(); n++ {
		whole[n] = s.take()
	}
	for _, f := range whole[:n] {
		if f != nil && ep.Live() {
			ep.Recv.Released(f)
		}
	}
	if ep.Live() && s.roomy() {
		ep.Ready()
	}
	return true
}

// Flush implements [btl.Deferred] and [btl.Flusher].
func (ep *endpoint) Flush() {
	ep.sender.deferred = false
	if ep.Live() && ep.failure == nil && !ep.sender.pauses() && ep.sender.hi > ep.sender.lo {
		ep.push()
	}
}

// Queued implements [btl.Flusher].
func (ep *endpoint) Queued() int { return ep.sender.queued() + ep.sealed.waiting() }
