package delivery

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/strandmp/strand/internal/test/need"
)

// TestFramesArriveExactlyOnce lets two sides send each other frames over lines that lose
// what is under way when they break, deliver in any order, release late, refuse, and take
// frames of other lengths: each frame's bytes arrive exactly once, its sender learns it
// exactly once, memory that was given back is not read, and what is kept is bounded.
func TestFramesArriveExactlyOnce(t *testing.T) {
	for seed := range need.Seeds(t, 1000, 1_000_000) {
		if err := runModel(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

const (
	mostOutstanding = 40
	mostUnfinished  = 60
	mostGaps        = 400
	mostRanges      = 6 // in one acknowledgement
	// mostSteps bounds every loop whose end depends on what is tested: frames live at a time
	// are some hundred.
	mostSteps = 10_000
)

// packet is a frame on its way, as it looks on the wire.
type packet struct {
	line      *modelLine
	frame     *Frame // whose memory is read when the packet leaves; nil if it has left
	numbered  bool
	number    uint32
	awaited   bool
	at, whole int
	payload   []byte
	next      uint32 // the cumulative acknowledgement
	beyond    []Range
	into      *incoming // once it has begun to arrive
}

// modelLine is one direction of a connection.
type modelLine struct {
	Line
	from, to *side
	reverse  *modelLine
	limit    int
	up       bool
	late     bool // it releases late
	ordered  bool
	wire     []*packet
}

// outgoing is a frame as its sender sees it.
type outgoing struct {
	Frame
	side    *side
	number  uint32
	content []byte // what has to arrive
	memory  []byte // the program's, which gets it back
	awaited bool
	lent    bool // memory is read for this frame
	learned int
	over    bool
	isPart  bool
}

// incoming is a frame as its receiver sees it.
type incoming struct {
	assembly Assembly
	data     []byte
	unwanted bool
	done     bool
}

type side struct {
	*model
	name    string
	other   *side
	snd     Sender
	rcv     Receiver
	lines   []*modelLine
	backlog Queue
	sent    []*outgoing
	arrived map[uint32]int
	live    int // frames and parts that are not over
	flush   bool
	spurns  uint32 // of each eight numbers, this one: nobody wants the frame, and its first part will do
}

type model struct {
	*rand.Rand
	sides [2]*side
	err   error
}

func (m *model) failf(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// bounded reports false, and fails, once a loop has gone round more often than there can be
// frames.
func (m *model) bounded(steps *int, what string) bool {
	if *steps++; *steps > mostSteps {
		m.failf("%s does not come to an end", what)
	}
	return m.err == nil
}

func runModel(seed uint64) error {
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1))}
	start := []uint32{0, 1<<31 - 20, 1<<32 - 20}[m.IntN(3)]
	for i := range m.sides {
		s := &side{model: m, name: string(rune('A' + i)), spurns: m.Uint32N(16), arrived: make(map[uint32]int)}
		s.snd = Sender{Most: mostOutstanding, base: start, next: start}
		s.rcv = Receiver{MaxUnfinished: mostUnfinished, MaxGaps: mostGaps, next: start}
		m.sides[i] = s
	}
	a, b := m.sides[0], m.sides[1]
	a.other, b.other = b, a
	for range 1 + m.IntN(3) {
		limit, late, ordered := 1+m.IntN(40), m.IntN(2) == 0, m.IntN(2) == 0
		l := &modelLine{from: a, to: b, limit: limit, late: late, ordered: ordered, up: true}
		r := &modelLine{from: b, to: a, limit: limit, late: late, ordered: ordered, up: true}
		l.reverse, r.reverse = r, l
		a.lines, b.lines = append(a.lines, l), append(b.lines, r)
	}
	for range 150 + m.IntN(150) {
		m.step()
		m.check()
		if m.err != nil {
			return m.err
		}
	}
	if m.IntN(4) == 0 {
		m.abandon()
	} else {
		m.finish()
	}
	return m.err
}

func (m *model) step() {
	s := m.sides[m.IntN(2)]
	l := s.lines[m.IntN(len(s.lines))]
	switch n := m.IntN(100); {
	case n < 25:
		s.send()
	case n < 75:
		l.advance()
	case n < 80:
		s.flushed()
	case n < 85:
		l.release()
	case n < 89 && l.up:
		l.cut()
	case n < 95 && !l.up:
		l.connect()
	default:
		s.pump()
	}
}

// send begins a frame, for the line that would carry it now or for another one.
func (s *side) send() {
	if s.snd.Full() {
		return
	}
	limit := s.lines[s.IntN(len(s.lines))].limit
	o := &outgoing{side: s, content: make([]byte, s.IntN(limit+1)), awaited: s.IntN(3) == 0, lent: true}
	for i := range o.content {
		o.content[i] = byte(s.Uint32())
	}
	o.memory = bytes.Clone(o.content)
	o.Owner, o.Header, o.Payload, o.Size = o, []byte{0}, o.memory, len(o.memory)
	o.number, o.Urgent = s.snd.Add(&o.Frame), s.IntN(4) == 0
	s.sent = append(s.sent, o)
	s.live++
	if s.backlog.Len() > 0 || !s.transmit(s.anyLine(), &o.Frame) {
		s.backlog.Push(&o.Frame)
	}
}

func (s *side) anyLine() *modelLine {
	for _, i := range s.Perm(len(s.lines)) {
		if s.lines[i].up {
			return s.lines[i]
		}
	}
	return nil
}

// transmit offers a frame to a line, which may refuse it, or take it in parts.
func (s *side) transmit(l *modelLine, f *Frame) bool {
	if l == nil || s.IntN(6) == 0 {
		return false
	}
	o := f.Owner.(*outgoing)
	if f.Held() || o.over {
		s.failf("%s: frame %d goes to a line, and is held: %v, over: %v", s.name, o.number, f.Held(), o.over)
		return false
	}
	if f.Numbered() && f.Size > l.limit {
		s.cut(o, l.limit)
		return true
	}
	p := &packet{line: l, frame: f, numbered: f.Numbered(), number: o.number, awaited: o.awaited, at: f.At(), whole: f.Whole().Size, next: s.rcv.Next()}
	p.payload = f.Payload
	if l.late {
		l.Take(f)
	} else {
		p.leave()
		l.Passed(f)
	}
	l.wire = append(l.wire, p)
	s.rcv.Stamped()
	s.settle(f)
	return true
}

func (s *side) cut(o *outgoing, limit int) {
	s.detach(o)
	gone := s.snd.Cut(&o.Frame, limit, func(_ *Frame, offset, n int) *Frame {
		p := &outgoing{side: s, number: o.number, isPart: true, awaited: o.awaited}
		p.Owner, p.Header, p.Payload, p.Size = p, o.Header, o.Payload[offset:offset+n], n
		s.live++
		return &p.Frame
	})
	if gone {
		s.over(o)
	}
}

// leave has the transport read the frame's memory: from now on it is not needed.
func (p *packet) leave() {
	p.payload, p.frame = bytes.Clone(p.payload), nil
}

// settle does what the message layer does about a frame's fate.
func (s *side) settle(f *Frame) {
	o := f.Owner.(*outgoing)
	switch f.Fate() {
	case Unread:
		if s.IntN(2) == 0 {
			s.detach(o)
		}
	case Over:
		whole := f.Unlink()
		s.over(o)
		if whole != nil {
			s.settle(whole)
		}
	}
}

// detach makes a copy of the payload, and gives the program its memory back.
func (s *side) detach(o *outgoing) {
	if o.lent && !o.isPart {
		o.Payload, o.lent = bytes.Clone(o.Payload), false
		scribble(o.memory)
	}
}

func (s *side) over(o *outgoing) {
	if o.over {
		s.failf("%s: frame %d is over twice", s.name, o.number)
	}
	if o.Held() {
		s.failf("%s: frame %d is over, and a transport holds it", s.name, o.number)
	}
	o.over = true
	s.live--
	if !o.isPart {
		scribble(o.Payload)
	}
}

func scribble(b []byte) {
	for i := range b {
		b[i] ^= 0x5a
	}
}

func (s *side) pump() {
	steps := 0
	for s.backlog.Head() != nil && s.bounded(&steps, "the backlog") {
		f := s.backlog.Pop()
		if !s.transmit(s.anyLine(), f) {
			s.backlog.PushFront(f)
			return
		}
	}
	for f := s.snd.NextReplay(); f != nil && s.bounded(&steps, "the replay queue"); f = s.snd.NextReplay() {
		if l := s.anyLine(); !f.Delivered() {
			if l != nil && f.Size > l.limit {
				s.snd.Replaying(f)
				s.cut(f.Owner.(*outgoing), l.limit)
				continue
			}
			if !s.transmit(l, f) {
				return
			}
		}
		s.snd.Replaying(f)
		s.settle(f)
	}
}

// soon has the other side told with the next poll what has arrived, unless a frame that
// goes there before says it.
func (s *side) soon() {
	s.rcv.Owe()
	s.flush = true
}

// flushed is a poll, which sends what is due.
func (s *side) flushed() {
	if s.flush && s.rcv.Due() {
		s.acknowledge()
		return
	}
	s.flush = false
}

// acknowledge sends an acknowledgement without a number.
func (s *side) acknowledge() {
	s.rcv.Owe()
	l := s.anyLine()
	if l == nil {
		return
	}
	s.flush = false
	beyond := s.rcv.Beyond()
	l.wire = append(l.wire, &packet{line: l, next: s.rcv.Next(), beyond: append([]Range(nil), beyond[:min(len(beyond), mostRanges)]...)})
	s.rcv.Told()
}

// release has the transport let go of a frame whose bytes have left.
func (l *modelLine) release() {
	for _, f := range l.holds() {
		if l.IntN(2) == 0 && !l.waits(f) {
			l.Release(f)
			l.from.settle(f)
			return
		}
	}
}

// holds are the frames that the line's transport has, the newest first.
func (l *modelLine) holds() (held []*Frame) {
	steps := 0
	for f := l.Newest(); f != nil && l.from.bounded(&steps, "what a line holds"); f = f.Older() {
		held = append(held, f)
	}
	return held
}

// reclaim takes back what the line's transport holds.
func (l *modelLine) reclaim() {
	steps := 0
	for f := l.Reclaim(); f != nil && l.from.bounded(&steps, "what is taken back"); f = l.Reclaim() {
		l.from.settle(f)
	}
}

func (l *modelLine) IntN(n int) int { return l.from.IntN(n) }

// waits reports whether a frame has not left yet.
func (l *modelLine) waits(f *Frame) bool {
	for _, p := range l.wire {
		if p.frame == f {
			return true
		}
	}
	return false
}

// advance has something of what is under way go on: leave, begin to arrive, arrive.
func (l *modelLine) advance() {
	if len(l.wire) == 0 {
		return
	}
	i := 0
	if !l.ordered {
		i = l.IntN(len(l.wire))
	}
	p := l.wire[i]
	switch {
	case p.frame != nil:
		p.leave()
	case p.numbered && p.into == nil && l.to.begin(p):
		// Its bytes are arriving.
	default:
		l.wire = append(l.wire[:i:i], l.wire[i+1:]...)
		l.to.end(p)
	}
}

// acked takes the acknowledgements of a packet.
func (s *side) acked(p *packet) {
	news := func(f *Frame) {
		o := f.Owner.(*outgoing)
		if o.learned++; o.learned > 1 {
			s.failf("%s: frame %d was acknowledged twice", s.name, o.number)
		}
		f.EachPart(s.settle)
	}
	if err := s.snd.Acknowledge(p.next, news); err != nil {
		s.failf("%s: %v", s.name, err)
	}
	for _, r := range p.beyond {
		if err := s.snd.AcknowledgeRange(r, news); err != nil {
			s.failf("%s: %v", s.name, err)
		}
	}
}

// begin finds the place for a packet's bytes, and reports whether it has one.
func (s *side) begin(p *packet) bool {
	s.acked(p)
	if s.rcv.Has(p.number) {
		return false
	}
	if a := s.rcv.Unfinished(p.number); a != nil {
		p.into = a.Owner.(*incoming)
		return true
	}
	if err := s.rcv.MayBegin(p.number); err != nil {
		s.failf("%s: %v", s.name, err)
		return false
	}
	in := &incoming{data: make([]byte, p.whole), unwanted: p.number%8 == s.spurns}
	in.assembly.Owner = in
	if !in.unwanted {
		s.rcv.Keep(&in.assembly, p.number, p.whole)
	}
	p.into = in
	return true
}

// end takes a packet that has arrived.
func (s *side) end(p *packet) {
	in := p.into
	if in == nil {
		s.acked(p)
		if p.numbered {
			s.soon() // it has come before
		}
		return
	}
	if in.done {
		s.soon()
		return
	}
	whole := in.unwanted || p.whole == 0
	if !in.unwanted && p.whole > 0 {
		copy(in.data[p.at:], p.payload)
		var err error
		if whole, err = s.rcv.Cover(&in.assembly, p.at, p.at+len(p.payload)); err != nil {
			s.failf("%s: %v", s.name, err)
		}
	}
	if !whole {
		return
	}
	s.rcv.Forget(&in.assembly)
	in.done = true
	had := s.rcv.Has(p.number)
	if s.arrived[p.number]++; s.arrived[p.number] > 1 && !in.unwanted || had && !in.unwanted {
		s.failf("%s: frame %d has arrived twice", s.name, p.number)
	}
	if !in.unwanted {
		s.compare(p.number, in.data)
	}
	when, err := s.rcv.Arrived(p.number, p.awaited)
	if err != nil {
		s.failf("%s: %v", s.name, err)
	}
	switch when {
	case Now:
		s.acknowledge()
	case Soon:
		s.soon()
	}
}

func (s *side) compare(number uint32, data []byte) {
	from := s.other
	o := from.sent[number-from.sent[0].number]
	if !bytes.Equal(o.content, data) {
		s.failf("%s: frame %d arrived with other bytes than it was sent with", s.name, number)
	}
}

// cut breaks a connection, with all that is under way over it.
func (l *modelLine) cut() {
	for _, l := range []*modelLine{l, l.reverse} {
		l.up, l.wire = false, nil
	}
	for _, l := range []*modelLine{l, l.reverse} {
		l.reclaim()
		l.from.snd.Lost(&l.Line, func(*Frame) {})
	}
}

// connect brings a connection back. Each side says what it has: what it said last may be
// lost.
func (l *modelLine) connect() {
	l.up, l.reverse.up = true, true
	l.from.soon()
	l.to.soon()
}

// check holds what is kept to its bounds.
func (m *model) check() {
	for _, s := range m.sides {
		if n := s.snd.Outstanding(); n > mostOutstanding {
			m.failf("%s: %d frames outstanding", s.name, n)
		}
		if len(s.snd.ring) > 2*max(64, mostOutstanding) {
			m.failf("%s: a ring of %d", s.name, len(s.snd.ring))
		}
		if n := len(s.rcv.AllUnfinished()); n > mostOutstanding {
			m.failf("%s: %d frames begun", s.name, n)
		}
		if s.snd.Replays()+s.backlog.Len() > s.live {
			m.failf("%s: %d frames wait, of %d", s.name, s.snd.Replays()+s.backlog.Len(), s.live)
		}
		for _, l := range s.lines {
			held, size := l.holds(), 0
			for _, f := range held {
				size += f.Size
			}
			if n, b := l.Holds(); n != len(held) || b != size {
				m.failf("%s: a line holds %d frames of %d bytes, and counts %d of %d", s.name, len(held), size, n, b)
			}
		}
	}
}

// finish brings everything back and lets it run: then everything is delivered, known and
// given back. Nobody asks for what is awaited.
func (m *model) finish() {
	for _, s := range m.sides {
		for _, l := range s.lines {
			if !l.up {
				l.connect()
			}
		}
	}
	m.run()
	for _, s := range m.sides {
		for _, o := range s.sent {
			if o.awaited && o.learned != 1 {
				m.failf("%s: frame %d is awaited, and nobody has said that it is there", s.name, o.number)
			}
		}
	}
	m.sides[0].soon()
	m.sides[1].soon()
	m.run()
	for _, s := range m.sides {
		for _, o := range s.sent {
			if o.learned != 1 || s.other.arrived[o.number] < 1 {
				m.failf("%s: frame %d was acknowledged %d times and has arrived %d times", s.name, o.number, o.learned, s.other.arrived[o.number])
			}
		}
		if !s.snd.Empty() || len(s.rcv.Beyond()) > 0 {
			m.failf("%s: %d frames outstanding, gaps %v", s.name, s.snd.Outstanding(), s.rcv.Beyond())
		}
	}
	m.nothingLeft()
}

// run moves everything on until nothing moves.
func (m *model) run() {
	for range 200_000 {
		for _, s := range m.sides {
			s.pump()
			s.flushed()
			for _, l := range s.lines {
				l.advance()
				l.release()
			}
		}
		if m.err != nil || m.sides[0].idle() && m.sides[1].idle() {
			return
		}
	}
	m.failf("it does not come to an end")
}

func (s *side) idle() bool {
	for _, l := range s.lines {
		if len(l.wire) > 0 || l.Newest() != nil {
			return false
		}
	}
	return !s.flush && s.backlog.Len() == 0 && s.snd.Replays() == 0
}

// abandon has both sides give up: whatever the state, everything is over once.
func (m *model) abandon() {
	for _, s := range m.sides {
		for s.backlog.Pop() != nil {
			continue // counted frames are in the window too
		}
		s.snd.Abandon(func(f *Frame, _ bool) { s.settle(f) })
		for _, l := range s.lines {
			l.reclaim()
		}
		for _, a := range append([]*Assembly(nil), s.rcv.AllUnfinished()...) {
			s.rcv.Forget(a)
		}
	}
	m.nothingLeft()
}

func (m *model) nothingLeft() {
	for _, s := range m.sides {
		if s.live != 0 || s.snd.Replays() != 0 || s.rcv.Gaps() != 0 || len(s.rcv.AllUnfinished()) != 0 {
			m.failf("%s: %d frames are not over, %d are to go again, %d begun, with %d gaps", s.name, s.live, s.snd.Replays(), len(s.rcv.AllUnfinished()), s.rcv.Gaps())
		}
		for _, o := range s.sent {
			if !o.over {
				m.failf("%s: frame %d is not over", s.name, o.number)
			}
		}
	}
}
