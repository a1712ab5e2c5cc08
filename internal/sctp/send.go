package sctp

import (
	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A Way is how a packet is to be sent.
type Way struct {
	Pair
	// Whole says that the packet must not be cut up on its way (RFC 8899). It is false for what was sent before
	// packets of its length got stuck, and can not be shortened any more (RFC 9260, section 6.9), where the system takes none of the shortest length, and for
	// what is long of that which begins an association.
	Whole bool
}

// MostPacket is how long a packet of the association's can be, in bytes.
func (a *Association) MostPacket() int {
	most := 0
	for i := range a.paths {
		most = max(most, a.paths[i].Most)
	}
	return most
}

// Send appends the next packet to b, and says where to, until the next call. There is none when ok is false: until
// [Association.At], or until something arrives, or is pushed. It allocates nothing if b has room.
func (a *Association) Send(now int64, b []byte) (packet []byte, way *Way, ok bool) {
	packet, way, _, ok = a.next(now, b)
	return packet, way, ok
}

// SendRow is Send for packets that go the same way, one behind the other, of the same length but for the last: what the system takes in
// one call. There are at most so many, with so many bytes, but for the first. What does not change from one to the next, such as
// how much may go, is found out once.
func (a *Association) SendRow(now int64, b []byte, packets, bytes int) (row []byte, size int, way *Way, ok bool) {
	start := len(b)
	b, way, after, ok := a.next(now, b)
	size = len(b) - start
	for ; ok && packets > 1 && after.bytes >= size && len(b)-start+size <= bytes; packets-- {
		from := len(b)
		b = a.appendData(now, after.path, from, size, a.header(b))
		if len(b) == from+chunk.HeaderSize {
			return b[:from], size, way, ok
		}
		a.seal(b[from:])
		a.Sent++
		if after.bytes -= size; len(b)-from < size {
			break
		}
	}
	return b, size, way, ok
}

// following is how many bytes of full packets with data alone may follow a packet at once, over which path.
type following struct{ path, bytes int }

// next appends the next packet.
func (a *Association) next(now int64, b []byte) (packet []byte, way *Way, after following, ok bool) {
	if a.state == Closed {
		packet, way, ok = a.last(b)
		return packet, way, after, ok
	}
	i, data, ok := a.turn(now)
	if !ok {
		return b, nil, after, false
	}
	p := &a.paths[i]
	start := len(b)
	way = a.wayOf(&p.Pair)
	b = a.header(b)
	switch {
	case a.due && a.state == CookieWait:
		b = a.appendInit(b)
		way.Whole = len(b)-start <= leastTried
		if a.repeats < len(a.paths) {
			p.greeted = now // the answer to a later one may be that to the first
		}
		a.sent(now)
	case p.moved.due:
		way.Remote = p.to
		b = a.ask(now, i, &p.moved, b)
	case len(p.answer) > 0 && p.answerTo != p.Remote:
		way.Remote = p.answerTo
		b = p.appendAnswer(b)
	case p.sound.due && !a.due && !p.speaks():
		b = a.soundings(now, i, b)
	default:
		full := p.packet()
		if a.due && a.state == CookieEchoed { // how much the path carries is not known
			full = leastTried
		}
		rows := a.rows() // what is sent again is not counted apart from what is new
		b, data = a.fill(now, i, start, data, b)
		way.Whole = len(b)-start <= full && !p.cut
		if way.Whole && len(b)-start == full && data > 0 && rows && !a.wants() {
			after = following{i, data - full}
		}
	}
	if len(b) == start+chunk.HeaderSize {
		return b[:start], nil, following{}, false
	}
	a.seal(b[start:])
	a.Sent++
	return b, way, after, true
}

// rows reports whether packets follow each other over a path without a look at anything else. What is sent again may be longer than packets
// have come to be, and paths that carry data at the same time take turns.
func (a *Association) rows() bool {
	return !a.e.config.Multipath && a.sender != nil && !a.sender.Repeats()
}

// wants reports whether there is something to be sent over any path beside data, which goes first.
func (a *Association) wants() bool {
	for i := range a.paths {
		if a.paths[i].wants() {
			return true
		}
	}
	return false
}

// wayOf is that of a packet over a path.
func (a *Association) wayOf(p *Pair) *Way {
	a.way.Pair, a.way.Whole = *p, true
	return &a.way
}

// seal writes the checksum where there is to be one: always before the peer knows us (RFC 9653, section 5.2).
func (a *Association) seal(packet []byte) {
	if !a.zeroOut || a.sender == nil {
		chunk.Seal(packet)
	}
}

func (a *Association) header(b []byte) []byte {
	return chunk.AppendHeader(b, chunk.Header{Source: a.e.config.Port, Destination: a.port, Tag: a.peerTag})
}

// turn is the path of the next packet, and how many bytes of packets with data go there now; 0: that is not known.
func (a *Association) turn(now int64) (i, data int, ok bool) {
	if a.due {
		return a.duePath(), 0, true
	}
	if a.sender == nil {
		return 0, 0, false
	}
	for i := range a.paths {
		if a.paths[i].wants() {
			return i, 0, true
		}
	}
	if due := a.receiver.Due(); due != 0 && due <= now {
		return a.backPath(), 0, true
	}
	if !a.sends() {
		return 0, 0, false
	}
	return a.sender.Next(now)
}

// sends reports whether data of ours can leave.
func (a *Association) sends() bool {
	return a.state == Established || a.state == ShutdownPending || a.state == ShutdownReceived
}

// duePath is the path for what belongs to no path: another one with each try, or that over which came what it answers.
func (a *Association) duePath() int {
	if a.answers {
		return a.back
	}
	for _, want := range [...]PathState{Active, Suspect} {
		for j := range a.paths {
			if i := (a.primary + a.tries + a.repeats + j) % len(a.paths); a.paths[i].state == want {
				return i
			}
		}
	}
	return (a.primary + a.tries + a.repeats) % len(a.paths)
}

// backPath is the path for acknowledgements: the one over which data has come, if it is good.
func (a *Association) backPath() int {
	if a.paths[a.sackPath].state == Active {
		return a.sackPath
	}
	for i := range a.paths {
		if a.paths[i].state == Active {
			return i
		}
	}
	return a.sackPath
}

// fill appends what goes together over a path: control first, then data. How much data goes there now may be known, and is returned. A heartbeat does
// without if there is no other way: either may get through where the other one is lost.
func (a *Association) fill(now int64, i, start, data int, b []byte) (packet []byte, goes int) {
	p := &a.paths[i]
	most := p.packet()
	if p.cookieAck {
		p.cookieAck = false
		b = chunk.Append(b, chunk.TypeCookieAck, 0, nil)
	}
	if a.due {
		b = a.appendDue(b)
		a.sent(now)
	}
	if len(p.answer) > 0 {
		b = p.appendAnswer(b)
	}
	alone := p.beat.due && !a.another(i)
	if p.beat.due {
		b = a.ask(now, i, &p.beat, b)
		p.beatAt = 0
	}
	if len(p.report) > 0 {
		b = chunk.Append(b, chunk.TypeError, 0, p.report)
		p.report = p.report[:0]
	}
	if a.sender == nil {
		return b, 0
	}
	if a.receiver.Due() != 0 && i == a.backPath() {
		a.strayed = i != a.sackPath
		b = a.receiver.AppendSACK(b, most-(len(b)-start), a.in.Window())
	}
	if data == 0 && !alone && a.sends() {
		if path, bytes, _ := a.sender.Next(now); path == i {
			data = bytes
		}
	}
	if data > 0 {
		b = a.appendData(now, i, start, most, b)
	}
	return b, data
}

// appendDue appends the chunk of the present state.
func (a *Association) appendDue(b []byte) []byte {
	switch a.state {
	case CookieEchoed:
		return chunk.Append(b, chunk.TypeCookieEcho, 0, a.begin.cookie)
	case ShutdownSent:
		return chunk.AppendNumber(b, chunk.TypeShutdown, a.receiver.Cumulative())
	case ShutdownAckSent:
		return chunk.Append(b, chunk.TypeShutdownAck, 0, nil)
	}
	return b
}

// sent notes that the chunk of the present state is under way.
func (a *Association) sent(now int64) {
	a.due = false
	a.dueAt = now + a.patience()
}

// quick is how long the answer is waited for to what begins an association, as long as that is less than RTO.Initial:
// nothing is known of the way, and it is a packet or two. 0: it was sent often enough for that. The time doubles when it was sent to all
// addresses: each INIT goes to another one.
func (a *Association) quick() int64 {
	c, times := &a.e.config, a.repeats
	if a.state == CookieWait {
		times /= len(a.paths)
	}
	if wait := c.quick << min(times, 20); (a.state == CookieWait || a.state == CookieEchoed) && wait < int64(c.RTOInitial) {
		return wait
	}
	return 0
}

// patience is how long its answer is waited for.
func (a *Association) patience() int64 {
	if quick := a.quick(); quick > 0 {
		return quick
	}
	wait := int64(a.e.config.RTOInitial)
	if a.sender != nil {
		wait = a.rto(a.duePath())
	}
	return min(wait<<min(a.tries, 20), max(int64(a.e.config.RTOMax), wait))
}

func (p *path) appendAnswer(b []byte) []byte {
	b = append(b, p.answer...)
	p.answer = p.answer[:0]
	return b
}

// soundings makes a packet of a length that may be too long: a heartbeat, and what it is padded with.
func (a *Association) soundings(now int64, i int, b []byte) []byte {
	p := &a.paths[i]
	rest := p.sound.size&^3 - chunk.HeaderSize - questionSize
	b = a.ask(now, i, &p.sound, b)
	b, start := chunk.Begin(b, chunk.TypePad, 0)
	for left := rest - 4; left > 0; left -= len(nothing) {
		b = append(b, nothing[:min(left, len(nothing))]...)
	}
	return chunk.End(b, start)
}

var nothing [1024]byte

// appendData appends data, to a packet over the path that it goes over now.
func (a *Association) appendData(now int64, i, start, most int, b []byte) []byte {
	if a.sender.Outstanding() == 0 {
		a.fruitful(now)
	}
	a.chunks = a.sender.Take(now, i, len(b)-start, most, a.chunks[:0])
	var d chunk.Data
	for i := range a.chunks {
		c := &a.chunks[i]
		c.Fragment.Header(&d, c.TSN, a.interleave)
		if c.Immediate {
			d.Flags |= chunk.FlagImmediate
		}
		var at int
		b, at = chunk.BeginData(b, &d)
		b = chunk.End(c.Fragment.AppendTo(b), at)
	}
	if len(a.chunks) > 0 {
		a.paths[i].used = now
		a.stir(now)
	}
	return b
}

// last appends the packet that ends the association.
func (a *Association) last(b []byte) (packet []byte, way *Way, ok bool) {
	if a.final == none {
		return b, nil, false
	}
	start := len(b)
	b = a.header(b)
	b, at := chunk.Begin(b, a.final, 0)
	if r := &a.finalCause; a.final == chunk.TypeAbort && r.cause != 0 {
		b = chunk.AppendField(b, r.cause, r.info[:min(len(r.info), mostInfo)])
	}
	b = chunk.End(b, at)
	a.final = none
	a.seal(b[start:])
	a.Sent++
	return b, a.wayOf(&a.paths[a.duePath()].Pair), true
}
