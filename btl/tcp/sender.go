package tcp

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/internal/rawio"
)

const (
	// copyLimit is the largest frame, header and payload, that is copied behind those
	// that wait: copying that much costs less than gathering another piece.
	copyLimit = 4 << 10
	// gatherLimit is the same of a frame that follows another one. To copy 16 KB and to share a
	// call takes less than a call of its own, in which the system does the peer's work too:
	// windows of 16 messages of 4, 8 and 16 KB take a half, two thirds and five sixths of the
	// sender's time. A lone frame is not copied.
	gatherLimit = 16<<10 + btl.MaxHeader
	// gatherNear is that within this machine, where two such frames are one segment: windows of 20 to 31 KB take
	// 0.55 to 0.8 of the time.
	gatherNear = segment/2 - framing.PrefixSize - framing.MaxFill
	// segment is the most that the loopback interface carries at once: 64 KB less
	// the headers.
	segment = 65483
	// flushAt is how many bytes of small frames may be held back. When that many wait, they go out. So windows
	// of 64 messages of 1 KB begin to arrive soon enough.
	flushAt = 48 << 10
	// outSize bounds the copied bytes. What does not fit in has the others go out. When the system has no
	// room, Send is busy.
	outSize = segment
	// maxQueued bounds the long frames that the system has no room for.
	maxQueued = 8
)

// A sender is the sending half of a connection. What waits is a sequence of
// bytes: those of out, with the payloads of long frames set in between. Before
// the payload of each long frame, its head bytes of out go out. After the last
// payload, the rest of out goes.
type sender struct {
	out    []byte // copied bytes: prefixes, headers and small payloads; lent while there are any
	lo, hi int    // out[lo:hi] waits
	peak   int    // the highest hi since out was lent
	much   bool   // last time a small buffer would not have been enough
	lender *lender

	frames [maxQueued]queued // a ring of the long frames that wait
	first  int
	count  int
	tail   int // bytes of out after the last long frame

	burst       uint64 // of the last frame
	follows     bool   // it follows another one of the same burst
	gatherLimit int    // the longest frame that is copied behind another one of the same burst
	fills       bool   // frames take whole lines of the stream, as they do within this machine
	blocked     bool   // the system has no room; the loop tells when it has
	deferred    bool   // the loop will call Flush

	sending sending
}

// pauses reports whether what is given to the sender waits: for room, or for a sending to be over.
func (s *sender) pauses() bool { return s.blocked || s.sending.stage != noMove }

// queued is a long frame that waits.
type queued struct {
	frame *btl.Frame
	head  int  // bytes of out before its payload
	own   int  // bytes of out right before its payload that belong to it
	trail int  // bytes of out right behind its payload that do
	ours  bool // it is the copied rest of a frame that was recalled
}

func (s *sender) init(first []byte, l *lender) {
	*s = sender{burst: ^uint64(0), lender: l}
	if len(first) > 0 {
		copy(s.reserve(len(first)), first)
	}
}

// discard forgets all frames.
func (s *sender) discard() {
	clear(s.frames[:])
	s.rest()
	s.lo, s.hi, s.first, s.count, s.tail, s.blocked = 0, 0, 0, 0, 0, false
}

// reserve returns room for n more bytes at the end of out, or nil.
func (s *sender) reserve(n int) []byte {
	if len(s.out)-s.hi < n && !s.makeRoom(n) {
		return nil
	}
	b := s.out[s.hi : s.hi+n]
	s.hi += n
	s.tail += n
	s.peak = max(s.peak, s.hi)
	return b
}

// prefix is that of a frame whose payload is copied behind it.
func (s *sender) prefix(f *btl.Frame) framing.Prefix {
	p := framing.Prefix{Payload: f.Size, Header: len(f.Header)}
	if s.fills {
		p.FillUp()
	}
	return p
}

// prefixOfLong is that of a frame whose payload is sent from where it is.
func (s *sender) prefixOfLong(f *btl.Frame) framing.Prefix {
	p := framing.Prefix{Payload: f.Size, Header: len(f.Header)}
	if s.fills {
		p.FillFor(f.Payload)
	}
	return p
}

// makeRoom finds room for n more bytes: in front of what waits, or in a larger buffer.
func (s *sender) makeRoom(n int) bool {
	waits := s.hi - s.lo
	if outSize-waits < n || s.sending.stage == moveStarted {
		return false
	}
	out := s.out
	if len(out)-waits < n {
		if len(out) == 0 && !s.much && n <= smallBuffer {
			out = s.lender.small.take()
		} else {
			out = s.lender.large.take()[:outSize]
		}
	}
	copy(out, s.out[s.lo:s.hi])
	if len(out) != len(s.out) {
		s.lender.back(s.out)
		s.out = out
	}
	s.lo, s.hi = 0, waits
	return true
}

// rest gives the buffer back: nothing waits any more.
func (s *sender) rest() {
	if s.out == nil {
		return
	}
	s.much = s.peak > smallBuffer
	s.lender.back(s.out)
	s.out, s.peak = nil, 0
}

// roomy reports whether it is worth while to offer frames again.
func (s *sender) roomy() bool {
	return s.count < maxQueued && s.hi-s.lo <= outSize/2
}

// enqueue appends a long frame, what precedes and follows whose payload was the last to go to out.
func (s *sender) enqueue(f *btl.Frame, p framing.Prefix) {
	s.frames[(s.first+s.count)%maxQueued] = queued{frame: f, head: s.tail - int(p.Trail), own: p.Head(), trail: int(p.Trail)}
	s.count++
	s.tail = int(p.Trail)
}

// take removes the first long frame from the ring. It returns the frame, or nil if that is the
// copied rest of a recalled one.
func (s *sender) take() *btl.Frame {
	f := s.frames[s.first].frame
	if s.frames[s.first].ours {
		f = nil
	}
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

// sent takes note of n bytes that the system took. Frames that are sent whole stay
// in the ring until take removes them.
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
		s.rest()
	}
}

// remainder returns a copy of what waits, with a goodbye at its end, for a connection
// that outlives its endpoint.
func (s *sender) remainder() []byte {
	b := make([]byte, 0, s.queued()+framing.PrefixSize)
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
	return framing.AppendGoodbye(b)
}
