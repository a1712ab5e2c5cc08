package udp

import (
	"math"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/recovery"
)

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, lane int) btl.Result {
	if !ep.Live() {
		return ep.Connect()
	}
	s := &ep.sender
	urgent := lane == btl.UrgentLane || lane == btl.ControlLane
	if ep.silent || !s.room(urgent) {
		return ep.Refuse()
	}
	s.take(f, urgent)
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(len(f.Header) + f.Size)
	if s.blocked {
		return btl.Taken
	}
	if now := ep.m.loop.Epoch(); now != s.epoch {
		s.epoch = now
	} else if s.queued < flushAt {
		if !s.deferred {
			s.deferred = true
			ep.m.loop.Flush(ep)
		}
		return btl.Taken
	}
	ep.push()
	return btl.Taken
}

// flushAt is how many bytes of frames are held back at most, to go out together.
const flushAt = 16 << 10

// Flush implements [btl.Deferred] and [btl.Flusher].
func (ep *endpoint) Flush() {
	ep.sender.deferred = false
	if ep.sender.live() && !ep.sender.blocked {
		ep.push()
	}
}

// Queued implements [btl.Flusher].
func (ep *endpoint) Queued() int { return ep.sender.queued }

// push sends what there is, as far as the network's window, the pace and the system let it. It makes no
// up-call. What the host answers while it takes in a packet goes when it has: with its acknowledgement, for which
// the peer's host may wait.
func (ep *endpoint) push() {
	if ep.taking {
		ep.pushes = true
		return
	}
	now := ep.m.loop.Now()
	ep.pushAt(now)
	if !ep.touched { // else settle does so, when what has come is acknowledged
		ep.arm(now)
	}
}

func (ep *endpoint) pushAt(now int64) {
	s := &ep.sender
	for !s.blocked && s.wants() {
		size := s.mtu.Size()
		allowed := min(s.path.Room(now, max(min(s.queued, mostBurst), size)), max(ep.spread(), size)-s.path.UnderWay())
		allowed = max(allowed, s.probes*size)
		if allowed < size && allowed < s.pending() {
			break
		}
		if !ep.burst(now, allowed) {
			break
		}
	}
	if !s.blocked && (s.queued > soundAbove*s.mtu.Size() || s.path.Sent > soundAfter) {
		if size := s.mtu.Sound(now); size != 0 {
			ep.sound(now, size)
		}
	}
}

// spread is how much may be under way: as much as the peer's socket has room for. Over a long way that would be little for a round
// trip. As packets go out at a pace, the socket needs room there only for what arrives while nobody looks.
func (ep *endpoint) spread() int {
	trip := min(ep.sender.path.Least, longestSpread)
	return int(min(int64(ep.window)*max(trip, looksEvery)/looksEvery, math.MaxInt32))
}

const (
	// looksEvery is for how long a process that computes leaves a socket alone, in most cases. What is lost otherwise has the
	// congestion control send less.
	looksEvery = int64(2 * time.Millisecond)
	// longestSpread is for how long a round trip counts.
	longestSpread = int64(time.Second)
)

// It is worth a packet to find out whether they may be longer, if so many wait, or so many were sent.
const (
	soundAbove = 4
	soundAfter = 16
)

// mostBurst is what is asked for at once.
const mostBurst = 64 << 10

// pending is the least that a packet would have now, in bytes; that of a full one if there is more.
func (s *sender) pending() int {
	length := s.queued
	for p := s.again.head; p != nil && length < s.mtu.Size(); p = p.next {
		length += p.length
		if p != s.again.head {
			length += partSize
		}
	}
	return min(length+headSize+sealSize+partSize+btl.MaxHeader, s.mtu.Size())
}

// burst makes packets of one size, up to so many bytes, and sends them together. It reports whether any
// was sent whole.
func (ep *endpoint) burst(now int64, allowed int) bool {
	s, so := &ep.sender, ep.link.so
	p := so.Packets
	full := s.mtu.Size()
	p.Reset(&ep.link.to, full)
	ep.m.scratch = ep.m.scratch[:0]
	sent, first := 0, s.path.Next()
	tells := ep.arrivals.Due(0) != 0 // with the first of them
	for s.wants() && p.Room(packetPieces) {
		if sent > 0 && sent+full > allowed {
			break
		}
		size := ep.packet(now, full)
		sent += size
		s.probes = max(s.probes-1, 0)
		if size < full {
			break // the kernel takes only the last one shorter
		}
	}
	if sent == 0 {
		return false
	}
	if ep.link.severed {
		return true
	}
	ep.counters.SendCalls++
	n, errno := so.sendBatch()
	if n == p.Len() {
		return true
	}
	if n == 0 && tells {
		ep.arrivals.Untold(now)
	}
	return ep.refused(first+uint64(n), errno)
}

// refused sees to packets that the system has not taken, from a number on. It reports whether to go on. All
// other errors are the network's, or may come again at once: a queue that is full (ENOBUFS), a filter. Such packets
// are as if lost.
func (ep *endpoint) refused(from uint64, errno syscall.Errno) bool {
	s := &ep.sender
	switch errno {
	case syscall.EAGAIN:
		s.retract(from)
		ep.block()
	case syscall.EMSGSIZE:
		if s.shrink() {
			s.retract(from)
			return true
		}
	}
	return false
}

// block has nothing sent until the system has room.
func (ep *endpoint) block() {
	if s := &ep.sender; !s.blocked {
		s.blocked, s.since = true, ep.m.loop.Now()
		ep.link.so.Block(ep)
	}
}

func (s *sender) retract(from uint64) {
	s.untaken = true
	s.path.Retract(from, s)
	s.untaken = false
}

// Resume implements [datagram.Waiter].
func (ep *endpoint) Resume() bool {
	ep.sender.blocked = false
	if !ep.sender.live() {
		return false
	}
	ep.proceed()
	return true
}

// packetPieces bounds the pieces of memory of one packet: its payloads, and what is between them.
const packetPieces = 16

// A packer puts one packet together. Its memory is the module's scratch, and the payloads of frames.
type packer struct {
	ep     *endpoint
	start  int // of the packet in the scratch
	from   int // of what was not given to the system yet
	full   int // bytes that the packet may have,
	left   int // and those that it still takes
	pieces int
	carry  list
}

// packet makes the next packet, of at most so many bytes, and enters it. It returns its length.
func (ep *endpoint) packet(now int64, full int) int {
	s, m := &ep.sender, ep.m
	if p := s.again.head; s.probes > 0 || p != nil && p.lost && p.sends >= sendsLong {
		full = min(full, ep.base())
	}
	k := packer{ep: ep, start: len(m.scratch), from: len(m.scratch), full: full, left: full - headSize - ep.guard.overhead}
	m.scratch = appendHead(m.scratch, kindData, ep.link.theirs, s.path.Next())
	k.acknowledge(now)
	k.floor()
	kind := recovery.Kind(0)
	for s.again.head != nil && k.piece(s.again.head) {
		if s.again.head.lost { // else a probe repeats it, or the system has not taken it
			kind = recovery.Repeat
		}
		s.waits -= s.again.head.length
		k.carry.push(s.again.pop())
	}
	for k.cut(&s.urgent) {
	}
	if s.urgent.head == nil {
		for k.cut(&s.normal) {
		}
	}
	switch {
	case s.bye == byeDue && k.left > 0:
		s.bye = byeSent
		k.other(itemBye)
	case k.carry.head == nil:
		k.other(itemPing)
	}
	k.answerable()
	size := k.close()
	for p := k.carry.head; p != nil; p = p.next {
		p.at = now
		if p.sends < math.MaxUint8 {
			p.sends++
		}
	}
	s.path.Send(now, size, kind, k.carry.head)
	return size
}

// sendsLong is how often a piece is sent in packets that may be too long for the path. After that it goes in those that every path should carry,
// whatever else gets through.
const sendsLong = 2

// acknowledge adds an acknowledgement, if there is anything to acknowledge.
func (k *packer) acknowledge(now int64) {
	a := &k.ep.arrivals
	if a.Due(0) == 0 {
		return
	}
	s := &k.ep.sender
	ranges, held := a.Ranges(now, s.ranges[:0], 1+mostRanges)
	if s.ranges = ranges; len(ranges) == 0 {
		return
	}
	m := k.ep.m
	before := len(m.scratch)
	m.scratch = appendAck(m.scratch, ranges, uint32(min(held.Microseconds(), 1<<31)))
	k.left -= len(m.scratch) - before
}

// floor says which packets the peer need not acknowledge any more, where it does so all the same: what is lost
// stays a hole among the numbers for ever. If this packet is lost, the next acknowledgement tells.
func (k *packer) floor() {
	s := &k.ep.sender
	if !s.forgets || k.left < floorSize {
		return
	}
	s.forgets = false
	k.ep.m.scratch = order.AppendUint64(append(k.ep.m.scratch, itemFloor), s.path.Floor())
	k.left -= floorSize
}

func (k *packer) other(what byte) {
	k.ep.m.scratch = append(k.ep.m.scratch, what)
	k.left--
	p := k.ep.sender.piece()
	p.of, p.what = nil, what
	k.carry.push(p)
}

// cut puts the next part of a queue's first frame into the packet, or the whole. It reports whether the
// frame is at its end, and there may be room for another.
func (k *packer) cut(q *queue) bool {
	o := q.head
	if o == nil {
		return false
	}
	s, f := &k.ep.sender, o.frame
	room := k.left - partSize - len(f.Header)
	n := min(f.Size-o.cut, room)
	if o.cut == 0 && frameSize+len(f.Header)+f.Size <= k.left {
		n = f.Size
	}
	if n < 0 || n == 0 && f.Size > 0 || n < f.Size-o.cut && n < leastPart {
		return false
	}
	p := s.piece()
	p.of, p.offset, p.length = o, o.cut, n
	o.cut += n
	o.pieces++
	s.queued -= n
	k.write(p)
	k.carry.push(p)
	if o.cut < f.Size {
		return false
	}
	o.whole = true
	q.pop()
	return true
}

// leastPart is the shortest part that is worth its header, but for a frame's last one.
const leastPart = 64

// piece puts a part into the packet that was in another one. It reports whether there was room.
func (k *packer) piece(p *piece) bool {
	f, head := p.of.frame, partSize
	if p.length == f.Size {
		head = frameSize
	}
	if head += len(f.Header); head+p.length > k.left {
		if k.carry.head != nil {
			return false
		}
		k.split(p, k.left-partSize-len(f.Header)) // packets have come to be shorter
	}
	k.write(p)
	return true
}

// split leaves so many bytes in a piece, and puts the rest into one of its own, to be sent after it.
func (k *packer) split(p *piece, length int) {
	s := &k.ep.sender
	rest := s.piece()
	rest.of, rest.offset, rest.length = p.of, p.offset+length, p.length-length
	rest.lost, rest.sends, rest.at = p.lost, p.sends, p.at
	p.length = length
	p.of.pieces++
	s.again.push(rest)
}

func (k *packer) write(p *piece) {
	m, o := k.ep.m, p.of
	f, before := o.frame, len(m.scratch)
	if p.length == f.Size {
		m.scratch = appendFrame(m.scratch, uint32(o.number), f.Header, f.Size)
	} else {
		m.scratch = appendPart(m.scratch, uint32(o.number), f.Header, f.Size, p.offset, p.length)
	}
	k.left -= len(m.scratch) - before + p.length
	if end := p.offset + p.length; end <= len(f.Payload) {
		k.add(f.Payload[p.offset:end])
		return
	}
	left := p.length
	for b := range pieces(f, p.offset) {
		b = b[:min(len(b), left)]
		if left -= len(b); len(b) > 0 {
			k.add(b)
		}
		if left == 0 {
			return
		}
	}
}

// add adds payload: a short piece, or one that is to be sealed, as a copy.
func (k *packer) add(b []byte) {
	if len(b) <= copied || k.ep.guard.how != protectNone || k.pieces > packetPieces-3 {
		k.ep.m.scratch = append(k.ep.m.scratch, b...)
		return
	}
	k.flush()
	k.ep.link.so.Packets.Add(b)
	k.pieces++
}

// pieces are those of a frame's payload from an offset on.
func pieces(f *btl.Frame, offset int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) { f.Pieces(offset, yield) }
}

// flush gives the system what is in the scratch.
func (k *packer) flush() {
	if m := k.ep.m; len(m.scratch) > k.from {
		k.ep.link.so.Packets.Add(m.scratch[k.from:len(m.scratch):len(m.scratch)])
		k.from = len(m.scratch)
		k.pieces++
	}
}

// answerable pads a short packet. A peer that knows nothing of the connection any more does not
// answer a question that is shorter than its answer.
func (k *packer) answerable() {
	m := k.ep.m
	for k.full-k.left < unknownSize && k.left > 0 {
		m.scratch = append(m.scratch, itemPadding)
		k.left--
	}
}

// close ends the packet, and returns its length.
func (k *packer) close() int {
	m, g := k.ep.m, k.ep.guard
	if g.how == protectNone {
		size := k.full - k.left
		k.flush()
		return size
	}
	sealed := g.seal(m.scratch[k.start:len(m.scratch)])
	m.scratch = m.scratch[:k.start+len(sealed)]
	k.flush()
	return len(sealed)
}

// sound sends a packet of a length that is not known to get through.
func (ep *endpoint) sound(now int64, size int) {
	s, m := &ep.sender, ep.m
	m.scratch = appendHead(m.scratch[:0], kindData, ep.link.theirs, s.path.Next())
	m.scratch = append(m.scratch, itemPing)
	for len(m.scratch) < size-ep.guard.overhead {
		m.scratch = append(m.scratch, itemPadding)
	}
	m.scratch = ep.guard.seal(m.scratch)
	number, l := s.path.Send(now, size, recovery.Sounding, nil), ep.link
	if l.severed {
		return
	}
	if errno := l.so.send(m.scratch, &l.to); errno == syscall.EAGAIN || errno == syscall.ENOBUFS { // which says nothing of the path
		s.retract(number)
	}
}
