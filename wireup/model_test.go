package wireup

import (
	"bytes"
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// The model has two ranks, time that a test moves, and a network. Until it is well, the network
// loses, repeats and reorders messages, refuses, breaks off, and serves one direction only.
// Whatever has happened until then, both ranks end with the same connection, and nothing is left
// of any other.

// A trait is what kind of transport the network is.
type trait struct {
	merges bool // messages; two attempts that cross are one connection
	lossy  bool // datagrams, which may be lost, repeated and overtaken
	cookie bool // nothing is kept for a stranger until it has shown a cookie
	oneWay int  // the rank that nobody can connect to; -1 both are open
}

// A model is one run.
type model struct {
	t      *testing.T
	seed   uint64
	chance *rand.Rand
	now    int64
	events events
	trait  trait
	bad    bool // the network
	ranks  [2]*rank
	wires  []*wire
	lines  []string
}

// An event happens to a rank at a time.
type event struct {
	at    int64
	order uint64 // of those at the same time, by chance
	on    *rank
	do    func()
}

// Stop implements [btl.Timer].
func (e *event) Stop() { e.do = nil }

type events []*event

func (q events) Len() int      { return len(q) }
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q *events) Push(e any) { *q = append(*q, e.(*event)) }
func (q *events) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (m *model) after(on *rank, d time.Duration, do func()) *event {
	e := &event{m.now + int64(d), m.chance.Uint64(), on, do}
	heap.Push(&m.events, e)
	return e
}

// run has everything happen until a time.
func (m *model) run(until time.Duration) {
	for len(m.events) > 0 && m.events[0].at <= int64(until) {
		e := heap.Pop(&m.events).(*event)
		m.now = max(m.now, e.at)
		switch {
		case e.do == nil:
		case e.on.away > m.now: // nobody looks at the clock there
			e.at = e.on.away
			heap.Push(&m.events, e)
		default:
			e.do()
		}
	}
	m.now = int64(until)
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	const last = 60
	m.t.Fatalf("seed %#x, %+v, at %v: %s\n%s", m.seed, m.trait, time.Duration(m.now), fmt.Sprintf(format, args...),
		strings.Join(m.lines[max(0, len(m.lines)-last):], "\n"))
}

// one is true once in n calls, by chance.
func (m *model) one(n int) bool { return m.chance.IntN(n) == 0 }

func (m *model) moment(most time.Duration) time.Duration {
	return time.Duration(m.chance.Int64N(int64(most)))
}

// A rank has a host, a loop and the transport, which know little.
type rank struct {
	btl.Module
	m       *model
	id      int
	away    int64 // until then nothing happens here
	knows   bool  // the key that both ranks share
	manager *Manager
	ep      *modelEndpoint
	closed  bool
	downs   int
	missed  int // attempts that have failed
}

func (r *rank) Rank() int             { return r.id }
func (r *rank) Size() int             { return 2 }
func (r *rank) Hostname() string      { return "h" }
func (r *rank) Job() string           { return "job" }
func (r *rank) Secret() []byte        { return []byte("0123456789abcdef0123456789abcdef") }
func (r *rank) Params() *param.Values { return new(param.Values) }
func (r *rank) PairKey(_ int, found func([]byte, error)) {
	switch m := r.m; {
	case r.knows:
		found([]byte("what rank 0 and rank 1 share"), nil)
	case m.bad && m.one(8):
		r.m.after(r, m.moment(time.Second), func() { found(nil, io.ErrNoProgress) })
	default:
		most := 100 * time.Millisecond
		if m.bad {
			most = 2 * time.Second
		}
		r.m.after(r, m.moment(most), func() {
			r.knows = true
			found([]byte("what rank 0 and rank 1 share"), nil)
		})
	}
}
func (r *rank) Loop() btl.Loop                            { return r }
func (r *rank) Hello() []byte                             { return []byte("hello") }
func (r *rank) Now() int64                                { return r.m.now }
func (r *rank) Epoch() uint64                             { return 0 }
func (r *rank) Flush(btl.Deferred)                        {}
func (r *rank) Move(btl.Mover)                            {}
func (r *rank) Watch(int, btl.Handler) (btl.Watch, error) { return nil, io.EOF }
func (r *rank) Post(f func())                             { r.m.after(r, 0, f) }
func (r *rank) After(d time.Duration, f func()) btl.Timer { return r.m.after(r, d, f) }
func (r *rank) Holds(netip.AddrPort) bool                 { return true }
func (r *rank) Linger()                                   {}
func (r *rank) NewEndpoint() Endpoint                     { return &modelEndpoint{r: r} }
func (r *rank) Logf(_ btl.LogLevel, format string, args ...any) {
	if strings.Contains(format, "%d %s rank") && args[5] == "not connected" {
		r.missed++
	}
	r.m.lines = append(r.m.lines, fmt.Sprintf("%12v ", time.Duration(r.m.now))+fmt.Sprintf(format, args...))
}

func (r *rank) Accept(_ btl.Module, _ int, _ []byte, _ int, ep btl.Endpoint) (btl.Receiver, error) {
	if r.m.bad && r.m.one(8) {
		return nil, io.ErrClosedPipe
	}
	if r.ep != nil && r.ep.At() != Failed {
		r.m.failf("rank %d has an endpoint already, %v", r.id, r.ep.At())
	}
	r.ep = ep.(*modelEndpoint)
	return &modelReceiver{r.ep}, nil
}

// want makes an endpoint if there is none, and sends over it.
func (r *rank) want() {
	if r.closed {
		return
	}
	if r.ep == nil {
		recv := new(modelReceiver)
		ep, err := r.manager.Connect(btl.Peer{Rank: 1 - r.id}, btl.Path{Private: modelWay{}}, recv)
		if err != nil {
			r.m.failf("rank %d: %v", r.id, err)
		}
		r.ep = ep.(*modelEndpoint)
		recv.ep = r.ep
	}
	r.ep.Send(nil, 0)
}

type modelWay struct{}

func (modelWay) Addresses() (local, remote string) { return "here", "there" }
func (modelWay) Describe() string                  { return "here → there" }

// modelReceiver does as the message layer: what is down is closed, and made anew.
type modelReceiver struct{ ep *modelEndpoint }

func (*modelReceiver) Up([]byte)                               {}
func (*modelReceiver) Writable()                               {}
func (*modelReceiver) Released(*btl.Frame)                     {}
func (*modelReceiver) Deliver(_, _ []byte) error               { return nil }
func (*modelReceiver) Begin([]byte, int) (*btl.Landing, error) { return nil, nil }
func (*modelReceiver) End(*btl.Landing) error                  { return nil }
func (*modelReceiver) Drop(*btl.Landing)                       {}
func (v *modelReceiver) Down(error) {
	v.ep.r.downs++
	v.ep.r.Post(v.ep.giveUp)
}

// A modelEndpoint says every now and then that it is there.
type modelEndpoint struct {
	Conn
	r     *rank
	end   *end
	key   []byte
	heard int64
	beat  *event
}

func (ep *modelEndpoint) Send(*btl.Frame, int) btl.Result {
	if ep.Live() {
		return btl.Done
	}
	return ep.Connect()
}

func (ep *modelEndpoint) giveUp() {
	_ = ep.Close()
	if ep.r.ep == ep {
		ep.r.ep = nil
		ep.r.m.after(ep.r, ep.r.m.moment(time.Second), ep.r.want)
	}
}

func (ep *modelEndpoint) Prepare(Link)                      {}
func (ep *modelEndpoint) Ready()                            {}
func (ep *modelEndpoint) Addresses() (local, remote string) { return "here", "there" }
func (ep *modelEndpoint) InFlight() int                     { return 0 }
func (ep *modelEndpoint) Start(l Link, first []byte, _ Greeting) error {
	var err error
	if ep.key, err = ep.Key("model"); err != nil {
		ep.r.m.failf("%v", err)
	}
	ep.end = l.(*end)
	ep.end.finish()
	ep.end.ep, ep.end.over = ep, false
	ep.heard = ep.r.m.now
	if first != nil {
		ep.end.say(packet{talk: first})
	}
	ep.pulse()
	return nil
}

const (
	pulse   = 300 * time.Millisecond
	silence = 5 * time.Second // the peer is gone
)

func (ep *modelEndpoint) pulse() {
	if ep.r.m.now-ep.heard > int64(silence) {
		ep.Down(ep.Error("connected", syscall.ETIMEDOUT))
		return
	}
	ep.end.say(packet{})
	ep.beat = ep.r.m.after(ep.r, pulse, ep.pulse)
}

func (ep *modelEndpoint) Detach(how End) {
	if ep.beat != nil {
		ep.beat.Stop()
	}
	ep.end.say(packet{fin: true, goodbye: how == Leaves})
	ep.end.over = true
}

// A wire is one connection, or attempt at one, with an end at each rank.
type wire struct {
	ends [2]*end
	last [2]int64 // when the last packet comes to an end
	deaf bool     // what is sent to it is lost
}

// An end implements [Link].
type end struct {
	r       *rank
	w       *wire
	pending *Pending
	ep      *modelEndpoint
	dialled bool
	ended   bool   // its Pending knows
	over    bool   // Abort, Leave or Start was called; the endpoint of the last is no more
	calls   int    // of these three
	stream  []byte // come and not yet taken
	cookie  []byte // of the other end, to be shown
}

// A packet is a piece of the handshake, or says that the endpoint is there, or no more.
type packet struct {
	talk         []byte
	cookie       []byte // shown with it
	asks         []byte // is to be shown
	fin, goodbye bool
}

func (e *end) other() *end { return e.w.ends[1-e.r.id] }

// finish notes that the link is the Manager's no more.
func (e *end) finish() {
	e.calls++
	if e.calls > 1 {
		e.r.m.failf("a link of rank %d has ended twice", e.r.id)
	}
	e.over = true
}

func (e *end) Send(b []byte) error {
	if len(b) > MaxMessage || e.over {
		e.r.m.failf("%d bytes over a link (ended: %v)", len(b), e.over)
	}
	e.say(packet{talk: b})
	return nil
}

func (e *end) Abort() {
	e.finish()
	e.say(packet{fin: true})
}

func (e *end) Leave(b []byte) {
	if len(b) > 0 {
		e.say(packet{talk: b})
	}
	e.finish()
	e.say(packet{fin: true})
}

func (e *end) Addresses() (local, remote string) { return "here", "there" }
func (e *end) Target() netip.AddrPort            { return netip.AddrPort{} }

// say has a packet come to the other end: or not, or twice.
func (e *end) say(p packet) {
	m := e.r.m
	if e.w.deaf {
		return
	}
	times := 1
	if m.trait.lossy {
		if p.fin && m.one(2) {
			return // nobody is told
		}
		if m.one(4) {
			times = 0
		}
		if m.one(10) {
			times++
		}
	}
	p.talk, p.asks, p.cookie = bytes.Clone(p.talk), bytes.Clone(p.asks), e.cookie
	other := e.other()
	for range times {
		at := m.now + int64(m.moment(20*time.Millisecond))
		if !m.trait.lossy { // in order
			at = max(at, e.w.last[other.r.id]+1)
			e.w.last[other.r.id] = at
		}
		m.after(other.r, time.Duration(at-m.now), func() { other.receive(p) })
	}
}

func (e *end) receive(p packet) {
	m := e.r.m
	if m.trait.lossy && e.pending == nil && len(p.talk) > 0 && !e.r.closed {
		if e.asks(p) {
			return
		}
		e.pending = e.r.manager.Came(e, e.other().r.address())
	}
	switch {
	case p.asks != nil:
		if e.dialled && !e.over {
			e.cookie = p.asks
			e.pending.Again()
		}
	case e.over || e.pending == nil:
		if m.trait.lossy && !p.fin {
			e.say(packet{fin: true})
		}
	case e.ep != nil:
		e.ep.receive(p)
	case p.fin:
		e.failed(syscall.ECONNRESET)
	case len(p.talk) > 0 && e.dialled && !e.risen():
		e.up() // which the transport notices by this
		e.receive(p)
	case len(p.talk) > 0 && (m.trait.merges || m.trait.lossy):
		e.pending.Bytes(p.talk)
	case len(p.talk) > 0:
		e.stream = append(e.stream, p.talk...)
		for len(e.stream) > 0 && !e.over && e.ep == nil {
			b := e.stream[:1+m.chance.IntN(min(len(e.stream), e.pending.Need()))]
			e.stream = e.stream[len(b):]
			e.pending.Bytes(b)
		}
	}
}

// asks reports whether the first message that comes from the other rank is answered by the
// request for a cookie.
func (e *end) asks(p packet) bool {
	if !e.r.m.trait.cookie {
		return false
	}
	answer, good := e.r.manager.Cookie(e.other().r.address(), []byte{byte(slices.Index(e.r.m.wires, e.w))}, p.cookie, len(p.talk))
	if answer != nil {
		e.say(packet{asks: answer})
	}
	return !good
}

func (r *rank) address() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + r.id)}), 0)
}

func (ep *modelEndpoint) receive(p packet) {
	ep.heard = ep.r.m.now
	switch {
	case p.goodbye:
		ep.Goodbye()
	case p.fin:
		ep.Down(ep.Error("connected", syscall.ECONNRESET))
	case len(p.talk) > 0 && ep.r.m.trait.lossy:
		ep.end.pending.Bytes(p.talk)
	}
}

// failed tells the Pending, once.
func (e *end) failed(err error) {
	if !e.ended && !e.over && e.ep == nil {
		e.ended = true
		e.pending.Ended(err)
	}
}

// Dial implements [Transport].
func (r *rank) Dial(p *Pending, _ Way) (Link, error) {
	m := r.m
	if m.trait.merges {
		for _, w := range m.wires {
			e, theirs := w.ends[r.id], w.ends[1-r.id]
			if e.pending != nil && !e.over {
				return nil, syscall.EISCONN
			}
			if e.pending == nil && theirs.dialled && !theirs.over && !theirs.ended && !w.deaf && e.calls == 0 && !e.over {
				e.pending, e.dialled = p, true // two have become one
				m.after(r, m.moment(20*time.Millisecond), func() { e.up() })
				m.after(theirs.r, m.moment(20*time.Millisecond), func() { theirs.up() })
				return e, nil
			}
		}
	}
	w := new(wire)
	w.ends[0], w.ends[1] = &end{r: m.ranks[0], w: w}, &end{r: m.ranks[1], w: w}
	m.wires = append(m.wires, w)
	e := w.ends[r.id]
	e.pending, e.dialled = p, true
	closed := m.trait.oneWay == 1-r.id // the other rank
	switch {
	case (m.bad || closed) && m.one(3):
		w.deaf = true
		m.after(r, m.moment(20*time.Millisecond), func() { e.failed(syscall.ECONNREFUSED) })
	case m.bad && m.one(4) || closed:
		w.deaf = true // no answer
		if m.trait.lossy || m.one(2) {
			m.after(r, 0, e.up)
		}
	case m.trait.lossy:
		m.after(r, 0, e.up)
	default:
		d := m.moment(20 * time.Millisecond)
		w.last[1-r.id] = m.now + int64(d)
		m.after(m.ranks[1-r.id], d, e.come)
		if m.bad && m.one(5) {
			m.after(r, m.moment(100*time.Millisecond), e.cut)
		}
	}
	return e, nil
}

// come: an attempt has reached the other rank.
func (e *end) come() {
	other := e.other()
	if other.pending == nil && !other.over && !other.r.closed {
		other.pending = other.r.manager.Came(other, netip.AddrPort{})
	}
	e.r.m.after(e.r, e.r.m.moment(20*time.Millisecond), e.up)
}

func (e *end) up() {
	if e.dialled && !e.over && e.ep == nil && !e.ended && !e.risen() {
		e.pending.Up()
	}
}

// risen reports whether the handshake has begun.
func (e *end) risen() bool {
	d, ok := e.pending.owner.(*dial)
	return !ok || d.risen
}

// cut breaks a connection at both ends.
func (e *end) cut() {
	for _, e := range e.w.ends {
		m := e.r.m
		m.after(e.r, m.moment(20*time.Millisecond), func() {
			if e.pending != nil && !e.over {
				e.receive(packet{fin: true})
			}
		})
	}
	e.w.deaf = true
}

// newModel makes two ranks that have nothing to do yet.
func newModel(t *testing.T, seed uint64, kind trait, c Config) *model {
	m := &model{t: t, seed: seed, chance: rand.New(rand.NewPCG(seed, 1)), now: 1, trait: kind}
	c.Name, c.Strangers, c.Merges = "model", 4, kind.merges
	if kind.lossy {
		c.Repeat = 30 * time.Millisecond
	}
	for i := range m.ranks {
		r := &rank{m: m, id: i}
		r.manager = NewManager(r, r, c)
		m.ranks[i] = r
	}
	return m
}

// agree checks that both are connected by the same connection, and by no other.
func (m *model) agree() {
	m.t.Helper()
	a, b := m.ranks[0].ep, m.ranks[1].ep
	switch {
	case a == nil || b == nil || !a.Live() || !b.Live():
		m.failf("not both are connected")
	case a.end.w != b.end.w:
		m.failf("they are connected by different connections")
	case a.Epoch() != b.Epoch() || a.Opened() == b.Opened():
		m.failf("epochs %d and %d, opened by rank 0: %v, by rank 1: %v", a.Epoch(), b.Epoch(), a.Opened(), b.Opened())
	}
	if !bytes.Equal(a.key, b.key) || len(a.key) != 32 {
		m.failf("their keys are %x and %x", a.key, b.key)
	}
	for _, w := range m.wires {
		for _, e := range w.ends {
			if e.pending != nil && !e.over && e.ep != a && e.ep != b {
				m.failf("rank %d has an end of another connection (dialled here: %v)", e.r.id, e.dialled)
			}
		}
	}
	for _, r := range m.ranks {
		if n := r.manager.Count(); n != 0 {
			m.failf("rank %d has %d strangers", r.id, n)
		}
	}
}

// close checks that nothing is left of anything.
func (m *model) close() {
	m.t.Helper()
	for _, r := range m.ranks {
		r.closed = true
		r.manager.Close()
	}
	for _, w := range m.wires {
		for _, e := range w.ends {
			if e.pending != nil && !e.over {
				m.failf("rank %d has closed and left an end of a connection behind", e.r.id)
			}
		}
	}
	for _, r := range m.ranks {
		r.away = 0
	}
	for len(m.events) > 0 { // what is under way comes to nobody
		if e := m.events[0]; e.do != nil && e.at > m.now+int64(time.Minute) {
			m.failf("rank %d has closed and left a timer behind", e.on.id)
		}
		m.run(time.Duration(m.events[0].at))
	}
}

// chaos has two ranks meet over a network that is bad for a while.
func chaos(t *testing.T, seed uint64, kind trait) {
	const badFor, wellFor = 8 * time.Second, 60 * time.Second
	chance := rand.New(rand.NewPCG(seed, 2))
	m := newModel(t, seed, kind, Config{Retries: 1 + chance.IntN(4), ConnectTimeout: time.Second, HandshakeTimeout: time.Second,
		Grace: []time.Duration{0, time.Hour}[chance.IntN(2)]})
	m.bad = true
	for range 1 + m.chance.IntN(8) {
		r := m.ranks[m.chance.IntN(2)]
		at := m.moment(badFor)
		if m.one(2) {
			at = m.moment(60 * time.Millisecond) // both at once
		}
		m.after(r, at, r.want)
	}
	for range m.chance.IntN(6) {
		r := m.ranks[m.chance.IntN(2)]
		m.after(r, m.moment(badFor), func() {
			switch {
			case m.one(3):
				r.away = m.now + int64(m.moment(3*time.Second))
			case r.ep != nil && m.one(2):
				r.ep.giveUp()
			case r.ep != nil && r.ep.end != nil && !r.ep.end.over:
				r.ep.end.cut()
			}
		})
	}
	if m.one(3) {
		m.run(m.moment(badFor))
		m.close()
		return
	}
	m.run(badFor)
	m.bad = false
	m.ranks[m.dialler()].want()
	m.run(badFor + wellFor)
	m.agree()
	m.close()
}

// dialler is one that can connect.
func (m *model) dialler() int {
	if m.trait.oneWay >= 0 {
		return m.trait.oneWay
	}
	return m.chance.IntN(2)
}

// peace has two ranks meet at once over a network that is well, though it may lose messages and
// serve one direction only. They meet again each time that one rank has lost the connection and the
// other does not know.
func peace(t *testing.T, seed uint64, kind trait) {
	long := time.Minute
	if kind.lossy {
		long = 2 * time.Second // nobody is told that an attempt is over: it stays a stranger for so long
	}
	m := newModel(t, seed, kind, Config{Retries: 1000, ConnectTimeout: long, HandshakeTimeout: long})
	for i, r := range m.ranks {
		if i == m.dialler() || m.one(2) || kind.oneWay >= 0 {
			m.after(r, m.moment(60*time.Millisecond), r.want)
		}
	}
	if len(m.events) == 0 {
		m.ranks[0].want()
	}
	const soon = 3 * time.Second
	m.run(soon)
	m.agree()
	for again := range time.Duration(3) {
		loser := m.ranks[m.dialler()]
		other := m.ranks[1-loser.id]
		if other.downs != 0 || loser.downs != 0 {
			m.failf("%d connections of rank %d have failed, and %d of rank %d", loser.downs, loser.id, other.downs, other.id)
		}
		if n := m.ranks[0].missed + m.ranks[1].missed; n > 0 && kind.oneWay < 0 {
			m.failf("%d attempts have failed", n)
		}
		loser.ep.end.w.deaf = true
		_ = loser.ep.Close()
		loser.ep = nil
		loser.want()
		m.run(soon * (2 + again))
		m.agree()
		if loser.downs != 0 || other.downs != 1 {
			m.failf("%d connections of rank %d have failed, which has lost one, and %d of rank %d", loser.downs, loser.id, other.downs, other.id)
		}
		other.downs = 0
	}
	m.close()
}

// Whatever the order of things, both sides end with the same one connection.
func TestBothEndWithOneConnection(t *testing.T) {
	for name, kind := range map[string]trait{
		"stream":                  {oneWay: -1},
		"stream, one way to 0":    {oneWay: 1},
		"stream, one way to 1":    {oneWay: 0},
		"messages, merged":        {oneWay: -1, merges: true},
		"datagrams":               {oneWay: -1, lossy: true},
		"datagrams, one way to 0": {oneWay: 1, lossy: true},
		"datagrams, cookies":      {oneWay: -1, lossy: true, cookie: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range need.Seeds(t, 100, 20_000) {
				peace(t, seed, kind)
				chaos(t, seed, kind)
			}
		})
	}
}
