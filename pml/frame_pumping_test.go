package pml

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/pml/rails"
)

// Whatever holds a send back, and in whatever order it ends, the send goes on then by itself: a full window, lines that refuse, hold or give back what they
// have, copies of scattered memory, messages that were given back, urgent ones before it. Here no line breaks, no time passes, and nobody asks for anything,
// by which something forgotten would go on.
func TestWhatIsHeldBackGoesOnByItself(t *testing.T) {
	for seed := range need.Seeds(t, 60, 100_000) {
		m := newTraffic(t, seed)
		m.play()
		if t.Failed() {
			return
		}
	}
}

// traffic is two message layers, joined by lines that do not break.
type traffic struct {
	lines
	all  []*load
	step int
}

// load is a message of the traffic.
type load struct {
	from, to         int
	context          uint64
	tag              int
	as               *layout.Layout
	memory, content  []byte
	got              []byte
	mode             Mode
	send, recv       *operation
	begun, sent, had bool
	before, after    *load // of its sender, context and tag
}

// sluggish is an endpoint of a slow line, which tells what it has not sent yet.
type sluggish struct{ *end }

func (s sluggish) Speed() int64 { return slowSpeed - 1 }

func (s sluggish) Queued() (n int) {
	for _, p := range s.underway {
		if p.from != nil {
			n += p.from.Size
		}
	}
	return n
}

func (s sluggish) Flush() {}

const urgentContext = 2

func newTraffic(t testing.TB, seed uint64) *traffic {
	m := &traffic{lines: lines{Rand: rand.New(rand.NewPCG(seed, 0x7AFF)), t: t, seed: seed}}
	narrow := ordinary
	narrow.sends, narrow.frames = 8, []int{70, 100, ordinary.frames}[m.IntN(3)] // that many may come before they are acknowledged unasked
	tune := tunables{
		lanes: 1 + m.IntN(3), creditMax: 1 << 20, copyLimit: []int{0, 100, 64 << 10}[m.IntN(3)], copyPool: 1 << 20, eagerMax: 4000, railTimeout: time.Hour,
		eagerAwaited: []int{0, 1 << 20}[m.IntN(2)],
	}
	first := uint32(1) << (4 + m.IntN(13))
	tune.creditFirst, tune.unexpectedMax = first, 1<<20
	for rank := range m.sides {
		eng, err := engine.New(engine.Options{Simulated: true})
		require.NoError(t, err)
		eng.Lock()
		p := &PML{engine: eng, bounds: narrow, rank: rank, peers: make(map[int]*peer), acquaintances: make(map[int]*acquaintance), lookups: t.Context(), contexts: make(map[uint64]*Context)}
		p.instant.pml, p.instant.done = p, true
		eng.AddProgressor(p)
		p.tune, p.unpromised = tune, tune.unexpectedMax
		p.host, p.scratch, p.pool.Limit = &host{pml: p}, make([]byte, 64), 1<<20
		pe := p.peerOf(1 - rank)
		pe.ways.Stage, pe.ways.Met = rails.Known, true
		pe.grant.Open(first)
		pe.credit.Open(first)
		c := p.contextOf(0)
		c.group = ConsecutiveGroup(0, 2)
		m.sides[rank] = &side{pe: pe, c: c}
		t.Cleanup(func() {
			pe.ways.Stage = rails.Failed
			eng.Unlock()
			eng.Close()
		})
	}
	for range 1 + m.IntN(3) {
		m.join()
	}
	for _, s := range m.sides {
		s.pe.choosePoller()
	}
	if m.IntN(2) == 0 {
		for _, s := range m.sides {
			c := s.pe.pml.contextOf(urgentContext)
			c.group, c.urgent = ConsecutiveGroup(0, 2), true
			s.pe.pml.expectUrgent()
		}
	}
	return m
}

// join adds a line.
func (m *traffic) join() {
	limit := 4 << 10 << m.IntN(7)
	attr := btl.Attr{
		Name: "line", MaxFrame: limit, EagerLimit: 1 + m.IntN(limit), Lanes: 1, Reliable: true, Ordered: m.IntN(2) == 0,
		Confirms: m.IntN(4) == 0, Retains: m.IntN(2) == 0,
	}
	if m.IntN(2) == 0 {
		attr.BestFrame = max(limit/4, 1)
	}
	isSlow := m.IntN(2) == 0
	var ends [2]*end
	for i, s := range m.sides {
		ends[i] = &end{m: &m.lines, limit: limit, up: true, holds: attr.Confirms}
		r := &rail{pml: s.pe.pml, peer: s.pe, module: ends[i], attr: attr, weight: 1, endpoint: ends[i]}
		if isSlow {
			r.setEndpoint(sluggish{ends[i]})
		}
		r.path.Index, ends[i].rail = len(s.ends), r
		s.ends = append(s.ends, ends[i])
		s.pe.also(r, rails.Up)
	}
	ends[0].far, ends[1].far = ends[1], ends[0]
}

// play sends some messages each way until all have come.
func (m *traffic) play() {
	m.draw()
	for m.step = 0; m.left() > 0; m.step++ {
		m.calm = m.step > 3000
		if m.step > 60_000 {
			m.t.Fatalf("nothing moves any more:\n%s", &m.lines)
		}
		m.happens()
		for range 4 {
			m.advance(m.all[m.IntN(len(m.all))])
		}
	}
}

// next reports whether a receive has, or waits for, each of those before it.
func (l *load) next() bool {
	for before := l.before; before != nil; before = before.before {
		if before.recv == nil && !before.had {
			return false
		}
	}
	return true
}

// last reports whether no receive waits for one of those after it, and would get it in their place.
func (l *load) last() bool {
	for after := l.after; after != nil; after = after.after {
		if after.recv != nil {
			return false
		}
	}
	return true
}

// draw makes up the messages.
func (m *traffic) draw() {
	last := make(map[[3]int]*load)
	for range 1 + m.IntN(24) {
		l := &load{from: m.IntN(2), tag: m.IntN(4), mode: []Mode{Standard, Synchronous, Buffered}[m.IntN(3)]}
		l.to = 1 - l.from
		if m.sides[0].pe.pml.urgent && m.IntN(3) == 0 {
			l.context = urgentContext
		}
		n := m.IntN(1 << m.IntN(20))
		l.memory = make([]byte, n)
		for i := range l.memory {
			l.memory[i] = byte(1 + i%251)
		}
		l.content = bytes.Clone(l.memory)
		if blocks := n / 16; blocks > 0 && m.IntN(3) > 0 {
			var err error
			l.as, err = layout.Repeat(layout.Run(8), blocks, 16)
			require.NoError(m.t, err)
			l.content = l.content[:0]
			for i := range blocks {
				l.content = append(l.content, l.memory[16*i:][:8]...)
			}
		}
		l.got = make([]byte, len(l.content))
		which := [3]int{l.from, int(l.context), l.tag}
		if l.before, last[which] = last[which], l; l.before != nil {
			l.before.after = l
		}
		m.all = append(m.all, l)
	}
}

func (m *traffic) left() (n int) {
	for _, l := range m.all {
		if !l.sent || !l.had {
			n++
		}
	}
	return n
}

// happens is one thing that happens to one end.
func (m *traffic) happens() {
	s := m.sides[m.IntN(2)]
	e := s.ends[m.IntN(len(s.ends))]
	switch n := m.IntN(100); {
	case n < 50:
		e.deliver()
	case n < 70:
		e.release()
	case n < 85:
		e.writable()
	case n < 95:
		s.pe.pml.Flush()
	default:
		s.pe.pml.Progress()
	}
}

// advance begins what has not begun, and takes note of what is complete.
func (m *traffic) advance(l *load) {
	from, to := m.sides[l.from], m.sides[l.to]
	if l.recv == nil && !l.had && l.next() && m.IntN(2) == 0 {
		op, err := to.pe.pml.contexts[l.context].irecv(l.got, nil, l.from, l.tag)
		require.NoError(m.t, err)
		l.recv = op
	}
	if !l.begun && (l.before == nil || l.before.begun) && from.pe.crowded(l.to) == nil && m.IntN(2) == 0 {
		op, err := from.pe.pml.contexts[l.context].isendOf(l.memory, nil, l.as, l.to, l.tag, l.mode)
		if l.mode == Buffered && err != nil {
			l.mode = Standard
			return
		}
		require.NoError(m.t, err)
		l.begun, l.send, l.sent = true, op, op == nil
	}
	if l.send != nil && (l.send.done || m.calm && l.send.claim()) { // as who waits for it
		require.NoError(m.t, l.send.err)
		from.pe.pml.freeOperation(l.send)
		l.send, l.sent = nil, true
	}
	if l.last() && l.recv != nil && !l.recv.done && !m.calm && m.IntN(64) == 0 {
		leaveCall(l.recv) // and receives anew
		l.recv = nil
	}
	if l.recv != nil && l.recv.done {
		require.NoError(m.t, l.recv.err)
		require.True(m.t, bytes.Equal(l.content, l.got))
		to.pe.pml.freeOperation(l.recv)
		l.recv, l.had = nil, true
	}
}
