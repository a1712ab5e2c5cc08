package pml

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// Two message layers, joined by lines of different limits, which break at any moment and
// come back. Time does not pass: a seed says what happens next.
type lines struct {
	*rand.Rand
	t     testing.TB
	sides [2]*side
	seed  uint64
	calm  bool // nothing refuses or breaks any more
	brief bool // messages are short, and mostly received by calls that block

	direct, late int // messages received in the first moment of a call, and acknowledgements that were left for later
}

// side is one of the two message layers.
type side struct {
	pe   *peer // the other one
	c    *Context
	ends []*end
}

// end is one side's end of a line: the endpoint of its rail.
type end struct {
	btl.Endpoint
	btl.Module
	m        *lines
	rail     *rail
	far      *end
	limit    int
	up       bool
	wanted   bool // somebody has offered a frame
	holds    bool // it releases what has arrived
	underway []*parcel
	lent     []*btl.Frame // copied already and not released
	landing  *btl.Landing // of the parcel that arrives
	arriving *parcel
	tooLong  int
	store    []*parcel // what was passed on, for a rail that keeps it
}

// parcel is a frame under way.
type parcel struct {
	header, payload []byte
	from            *btl.Frame // as long as its memory was not read
	kept            []byte     // the payload, whatever of it has arrived
	read            bool       // by the other side
}

func newLines(t testing.TB, seed uint64) *lines {
	m := &lines{Rand: rand.New(rand.NewPCG(seed, 0x11E5)), t: t}
	copyLimit := []int{0, 100, 64 << 10}[m.IntN(3)]
	narrow := ordinary // who keeps to them is never refused
	narrow.sends, narrow.frames = 8, []int{1, 2, 5, ordinary.frames}[m.IntN(4)]
	for rank := range m.sides {
		eng, err := engine.New(engine.Options{Simulated: true})
		require.NoError(t, err)
		eng.Lock()
		p := &PML{engine: eng, bounds: narrow, rank: rank, peers: make(map[int]*peer), acquaintances: make(map[int]*acquaintance), lookups: t.Context(), contexts: make(map[uint64]*Context)}
		p.tune = tunables{lanes: 1, creditMax: 1 << 20, copyLimit: copyLimit, copyPool: 1 << 20, eagerMax: 4000}
		p.host, p.scratch, p.pool.Limit = &host{pml: p}, make([]byte, 64), 1<<20
		pe := p.peerOf(1 - rank)
		pe.ways.Stage, pe.ways.Met = rails.Known, true
		pe.grant.Open(1 << 16)
		c := p.contextOf(0)
		c.group = ConsecutiveGroup(0, 2)
		m.sides[rank] = &side{pe: pe, c: c}
		t.Cleanup(func() {
			pe.ways.Stage = rails.Failed
			eng.Unlock()
			eng.Close()
		})
	}
	many := 1 + m.IntN(4)
	if m.brief = m.IntN(2) == 0; m.brief {
		many = 1 + m.IntN(2)
	}
	for range many {
		m.join()
	}
	for _, s := range m.sides {
		s.pe.choosePoller()
	}
	return m
}

// join adds a line.
func (m *lines) join() {
	limit := 32 << m.IntN(7)
	attr := btl.Attr{
		Name: "line", MaxFrame: limit, EagerLimit: 1 + m.IntN(4*limit), Lanes: 1, Exclusivity: m.IntN(3),
		Reliable: true, Ordered: m.IntN(2) == 0,
	}
	keeps := m.IntN(2) == 0
	var ends [2]*end
	for i, s := range m.sides {
		ends[i] = &end{m: m, limit: limit}
		ends[i].rail = &rail{pml: s.pe.pml, peer: s.pe, module: ends[i], attr: attr, weight: 1, endpoint: ends[i]}
		ends[i].rail.path.Index = len(s.ends)
		if keeps {
			ends[i].rail.keeper = ends[i]
		}
		s.ends = append(s.ends, ends[i])
		ends[i].rail.way.Tier = attr.Exclusivity
		s.pe.also(ends[i].rail, rails.Idle)
	}
	ends[0].far, ends[1].far = ends[1], ends[0]
	m.mend(ends[0])
}

func (e *end) Desc() string { return fmt.Sprintf("line of %d", e.limit) }
func (e *end) Close() error { return nil }
func (e *end) Abort()       {}

func (e *end) Connect(btl.Peer, btl.Path, btl.Receiver) (btl.Endpoint, error) { return e, nil }

// Send implements [btl.Endpoint].
func (e *end) Send(f *btl.Frame, _ int) btl.Result {
	if !e.up || len(e.underway) > 4 || !e.m.calm && e.m.IntN(8) == 0 {
		e.wanted = true
		return btl.Busy
	}
	if f.Size > e.limit || len(f.Header) > btl.MaxHeader {
		e.tooLong++
		e.rail.pml.engine.Post(func() { e.down(errors.New("message too long")) })
		return btl.Broken
	}
	p := &parcel{header: bytes.Clone(f.Header), from: f}
	e.underway = append(e.underway, p)
	how := 0
	if !e.holds {
		how = e.m.IntN(3)
	}
	switch how {
	case 0:
		return btl.Taken
	case 1:
		p.copy()
		e.lent = append(e.lent, f)
		return btl.Taken
	default:
		p.copy()
		p.kept = bytes.Clone(p.payload)
		e.store = append(e.store, p)
		return btl.Done
	}
}

// Kept implements [btl.Keeper].
func (e *end) Kept(*btl.Frame) uint64 { return uint64(len(e.store) - 1) }

// Again implements [btl.Keeper]. What the other side has read may be there no more.
func (e *end) Again(place uint64, b []byte) bool {
	p := e.store[place]
	return (!p.read || e.m.IntN(2) == 0) && copy(b, p.kept) == len(b)
}

func (p *parcel) copy() {
	if p.from != nil {
		p.payload = make([]byte, p.from.Size)
		p.from.CopyPayload(p.payload)
		p.from = nil
	}
}

// deliver moves a parcel on, or begins to.
func (e *end) deliver() {
	to := e.far
	if len(e.underway) == 0 || !to.up || !e.up && e.underway[0].from != nil {
		return
	}
	p := e.underway[0]
	if p.from != nil {
		f := p.from
		p.copy()
		e.lent = append(e.lent, f)
	}
	r := to.rail
	switch {
	case to.arriving == p:
		if to.landing.Fill(p.payload[:1+e.m.IntN(len(p.payload))]); to.landing.Left() > 0 {
			used := len(p.payload) - to.landing.Left()
			to.arriving.payload = p.payload[used:]
			return
		}
		e.underway = e.underway[1:]
		l := to.landing
		to.landing, to.arriving, p.read = nil, nil, true
		require.NoError(e.m.t, r.End(l))
	case len(p.payload) == 0 || e.holds || e.m.IntN(2) == 0:
		e.underway, p.read = e.underway[1:], true
		require.NoError(e.m.t, r.Deliver(p.header, p.payload))
	default:
		l, err := r.Begin(p.header, len(p.payload))
		require.NoError(e.m.t, err)
		to.landing, to.arriving = l, p
	}
}

// release gives the memory of frames back.
func (e *end) release() {
	for n := e.m.IntN(2 + len(e.lent)); n > 0 && len(e.lent) > 0; n-- {
		if !e.up {
			return
		}
		f := e.lent[0]
		e.lent = e.lent[1:]
		e.rail.Released(f)
	}
}

// writable has an end that was busy take frames again.
func (e *end) writable() {
	if e.up && e.wanted && len(e.underway) <= 4 {
		e.wanted = false
		e.rail.Writable()
	}
}

// down is the end of the line as this end sees it; what it has sent still arrives, as far
// as it was read, until the other end sees it too.
func (e *end) down(err error) {
	if !e.up {
		return
	}
	if e.rail.Save(); e.m.IntN(2) == 0 {
		e.store = nil // its memory is gone
	}
	e.up, e.wanted, e.lent = false, false, nil
	for i, p := range e.underway {
		if p.from != nil {
			e.underway = e.underway[:i]
			break
		}
	}
	if l := e.landing; l != nil {
		e.landing, e.arriving = nil, nil
		e.rail.Drop(l)
	}
	e.rail.Down(err)
}

// mend connects a line again of which both ends are down.
func (m *lines) mend(e *end) {
	if e.up || e.far.up {
		return
	}
	hello, err := (&wire.Hello{Credit: 1 << 16}).Encode()
	require.NoError(m.t, err)
	for _, e := range []*end{e, e.far} {
		e.underway, e.up = nil, true
	}
	for _, e := range []*end{e, e.far} {
		e.rail.Up(hello)
		e.writable()
	}
}

// String tells how things stand.
func (m *lines) String() string {
	var b strings.Builder
	for rank, s := range m.sides {
		pe := s.pe
		fmt.Fprintf(&b, "rank %d: window %d to %d, received to %d and %v, %d again, %d in the backlog, %d pieces, streams %v, waiting %v, partial %d, begun %d\n",
			rank, pe.sent.Base(), pe.sent.Next(), pe.received.Next(), pe.received.Beyond(), pe.sent.Replays(), pe.backlog.Len(), pe.bulk.Len(),
			pe.streams.head != nil, pe.waiting.head != nil, len(pe.received.AllUnfinished()), len(pe.begun))
		for _, e := range s.ends {
			fmt.Fprintf(&b, "  %s: end up %v, rail up %v, busy %v, serves %v, wanted %v, %d under way, %d lent, tier %d, down %v, share %+v\n", e.Desc(), e.up, e.rail.up(), e.rail.busy,
				e.rail.serves(), e.wanted, len(e.underway), len(e.lent), e.rail.way.Tier, e.rail.way.State, e.rail.share)
		}
		pe.sent.Each(func(f *delivery.Frame) {
			fmt.Fprintf(&b, "  unacknowledged: type %d, number %v, %d bytes, part %v, held %v, line %v\n",
				f.Header[0], f.Header[4:8], f.Size, f.Whole() != f, f.Held(), f.Line != nil)
		})
	}
	return b.String()
}

// step is one thing that happens to one end.
func (m *lines) step() {
	s := m.sides[m.IntN(2)]
	e := s.ends[m.IntN(len(s.ends))]
	switch n := m.IntN(100); {
	case n < 50:
		e.deliver()
	case n < 65:
		e.release()
	case n < 80:
		e.writable()
	case n < 87:
		s.pe.pml.Flush()
	case n < 90:
		s.pe.pml.Progress()
	case n < 95 || m.calm:
		if m.calm && e.up && !e.far.up {
			e.down(errors.New("the other end is"))
		}
		if m.mend(e); e.up && !e.rail.busy {
			e.rail.ask() // as a beat does: an acknowledgement may be lost with its line
		}
	default:
		e.down(errors.New("broken"))
	}
}

// letter is a message from one side to the other.
type letter struct {
	content, sent, got []byte
	from               int
	send, recv         *operation
	started, done      bool
	tag                int
	before             *letter // the one before it of that side with that tag
	answers            *letter // one that has arrived before this is sent
}

// advance starts what has not started, and takes note of what has completed: from then
// on the memory is the program's.
func (m *lines) advance(l *letter) {
	if l.answers != nil && !l.answers.done {
		return
	}
	from, to := m.sides[l.from], m.sides[1-l.from]
	tag, next := l.tag, l.before == nil || l.before.recv != nil || l.before.done
	if l.recv == nil && !l.done && next && m.IntN(2) == 0 {
		var st Status
		if st, l.done = m.recvShort(to, l.got, tag); l.done {
			m.direct++
			require.Equal(m.t, Status{Source: l.from, Tag: tag, Count: len(l.content)}, st)
			require.Equal(m.t, l.content, l.got)
			clear(l.got)
		}
	}
	if l.recv == nil && !l.done && next && m.IntN(2) == 0 && (!m.brief || m.IntN(8) == 0) {
		op, err := to.c.irecv(l.got, nil, l.from, tag)
		require.NoError(m.t, err)
		l.recv = op
	}
	if !l.started && (l.before == nil || l.before.started) && from.pe.crowded(1-l.from) == nil && m.IntN(2) == 0 {
		l.started = true
		if (m.brief || m.IntN(2) == 0) && from.c.sendShort(l.sent, 1-l.from, tag) {
			clear(l.sent)
			return
		}
		cut := m.IntN(len(l.sent) + 1)
		op, err := from.c.isend(l.sent[:cut], [][]byte{l.sent[cut:]}, 1-l.from, tag, []Mode{Standard, Synchronous}[m.IntN(2)])
		require.NoError(m.t, err)
		if l.send = op; op == nil {
			clear(l.sent)
		}
	}
	if l.send != nil && l.send.done {
		require.NoError(m.t, l.send.err)
		l.send = nil
		clear(l.sent)
	}
	if l.recv != nil && !l.recv.done && !m.brief && !m.calm && m.IntN(16) == 0 {
		leaveCall(l.recv) // and receives anew
		l.recv = nil
		clear(l.got)
	}
	if l.recv != nil && l.recv.done && !l.done {
		l.done = true
		require.NoError(m.t, l.recv.err)
		require.Equal(m.t, l.content, l.got)
		clear(l.got)
	}
}

// recvShort is what a receive that blocks does first (Context.recvShort), while anything happens that a poll may find.
func (m *lines) recvShort(s *side, buf []byte, tag int) (Status, bool) {
	p, pe := s.pe.pml, s.pe
	if s.c.match.Waiting() || !pe.comesWhole(len(buf)) {
		return Status{}, false
	}
	d := &p.direct
	d.context, d.from, d.tag, d.buf = s.c, pe, int32(tag), buf
	for range m.IntN(60) {
		if m.step(); d.done {
			break
		}
	}
	st, done := d.status, d.done
	*d = direct{}
	return st, done
}

func (l *letter) over() bool { return l.done && l.send == nil }

// play sends some messages each way and returns how often a frame was sent that its line
// does not take.
func (m *lines) play() (tooLong int) {
	var all []*letter
	letters, longest, tags := 1+m.IntN(8), 13, 8
	if m.brief {
		letters, longest, tags = 1+m.IntN(60), 1+m.IntN(9), 1+m.IntN(3)
	}
	last := make(map[[2]int]*letter)
	for i := range letters {
		l := &letter{from: m.IntN(2), tag: i % tags, content: make([]byte, m.IntN(1<<m.IntN(longest)))}
		for j := range l.content {
			l.content[j] = byte(1 + (i+j)%255)
		}
		l.sent, l.got = bytes.Clone(l.content), make([]byte, len(l.content))
		l.before, last[[2]int{l.from, l.tag}] = last[[2]int{l.from, l.tag}], l
		if m.brief && i > 0 && m.IntN(8) > 0 {
			l.answers = all[i-1]
		}
		all = append(all, l)
	}
	left := func() (n int) {
		for _, l := range all {
			if !l.over() {
				n++
			}
		}
		return n
	}
	rough := 50 + m.IntN(2000)
	for i := 0; left() > 0; i++ {
		m.calm = i > rough
		if i > 200_000 {
			m.t.Fatalf("seed %d: nothing moves any more:\n%s", m.seed, m)
		}
		m.step()
		for _, s := range m.sides {
			if s.pe.pml.late != nil {
				m.late++
			}
		}
		for range 4 {
			m.advance(all[m.IntN(len(all))])
		}
	}
	for _, l := range all {
		assert.True(m.t, bytes.Equal(l.got, make([]byte, len(l.got))), "written to after the receive had completed")
	}
	for _, s := range m.sides {
		assert.Empty(m.t, s.pe.received.AllUnfinished())
		for _, e := range s.ends {
			tooLong += e.tooLong
		}
	}
	return tooLong
}

// Frames that were made for one line go over others that take less, as often as lines
// break; every message arrives, and nothing is written to a buffer that was given back.
func TestLinesOfAnyLimitBreakAtAnyMoment(t *testing.T) {
	cut, direct, late := uint64(0), 0, 0
	for seed := range need.Seeds(t, 160, 100_000) {
		m := newLines(t, seed)
		m.seed = seed
		if tooLong := m.play(); tooLong > 0 || t.Failed() {
			t.Fatalf("seed %d: %d frames were longer than their line takes", seed, tooLong)
		}
		for _, s := range m.sides {
			cut += s.pe.pml.stats.Cut
		}
		direct, late = direct+m.direct, late+m.late
	}
	t.Logf("%d frames were cut, %d messages came in the first moment of a call, and %d times there was an acknowledgement to be noted", cut, direct, late)
	if need.Replays() {
		return
	}
	assert.Positive(t, cut)
	assert.Positive(t, direct)
	assert.Positive(t, late)
}
