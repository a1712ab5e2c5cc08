package udp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/param"
)

// A world is two processes with a network between them. Time is virtual and goes from one event to the next. The sockets are the system's:
// what is sent is there at once, and takes its way from then on.
type world struct {
	t      testing.TB
	random *rand.Rand
	now    int64
	nodes  [2]*node
	ways   [2]way                 // by the rank that they lead to
	flying []flying               // by time
	sent   int                    // packets
	looks  func(to int, b []byte) // at each that is sent; or nil
}

// A way is how the network is in one direction.
type way struct {
	dead          bool
	delay, jitter time.Duration
	loss          float64
	most          int // longer packets are lost; 0: none is
}

// flying is a packet on its way.
type flying struct {
	due  int64
	to   int
	take func()
}

// A node is a process: a host with a loop of its own.
type node struct {
	*btltest.Host
	w        *world
	rank     int
	phase    int64 // what its clock is ahead
	until    int64 // it stands still until then
	epoch    uint64
	timers   []*nodeTimer
	watches  []*nodeWatch
	deferred []btl.Deferred
	posted   []func()

	m     *module
	ep    *endpoint
	recv  *btltest.Receiver
	said  int             // frames
	wants map[string]bool // those of them that have not arrived
}

func newWorld(t testing.TB, seed uint64, settings ...param.Setting) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 0x0D9)), now: 1}
	settings = append([]param.Setting{with(pPacket, "1400"), with(prefixOfAll+"if_include", "lo"), with(prefixOfAll+"disable_family", "6")}, settings...)
	for rank := range w.nodes {
		c := Component{meddle: func(b []byte, take func([]byte)) { w.takes(rank, b, take) }}
		n := &node{w: w, rank: rank, phase: w.random.Int64N(1e12), wants: make(map[string]bool)}
		n.Host = btltest.NewHost(t, rank, 2, c, settings...)
		modules, err := c.Open(n)
		require.NoError(t, err)
		n.m = modules[0].(*module)
		w.nodes[rank] = n
	}
	t.Cleanup(w.close)
	return w
}

// takes takes a packet that was sent to a rank, to hand it over later.
func (w *world) takes(to int, b []byte, take func([]byte)) {
	w.sent++
	if w.looks != nil {
		w.looks(to, b)
	}
	p := &w.ways[to]
	if p.dead || p.most > 0 && len(b) > p.most || p.loss > 0 && w.random.Float64() < p.loss {
		return
	}
	due := w.now + int64(p.delay)
	if p.jitter > 0 {
		due += w.random.Int64N(int64(p.jitter))
	}
	b = bytes.Clone(b)
	f := flying{due: due, to: to, take: func() {
		take(b)
		w.nodes[to].m.answer()
	}}
	at := slices.IndexFunc(w.flying, func(o flying) bool { return o.due > due })
	if at < 0 {
		at = len(w.flying)
	}
	w.flying = slices.Insert(w.flying, at, f)
}

// deliver hands over what has arrived, and reports whether there was anything.
func (w *world) deliver() (did bool) {
	for k := 0; k < len(w.flying) && w.flying[k].due <= w.now; {
		f := w.flying[k]
		if w.nodes[f.to].still() {
			k++
			continue
		}
		w.flying = slices.Delete(w.flying, k, k+1)
		f.take()
		did = true
	}
	return did
}

// run lets time pass, until a time or until something is so, and reports whether it is.
func (w *world) run(until int64, so func() bool) bool {
	for {
		for rounds, did := 0, true; did; rounds++ {
			require.Less(w.t, rounds, 100_000, "without any time passing")
			did = w.deliver()
			for _, n := range w.nodes {
				did = n.turn() || did
			}
			if so() {
				return true
			}
		}
		next := w.next()
		if next >= until {
			w.now = until
			return false
		}
		w.now = max(next, w.now)
	}
}

// next is when there is something to do.
func (w *world) next() int64 {
	at := int64(1 << 62)
	for _, f := range w.flying {
		at = min(at, max(f.due, w.nodes[f.to].until))
	}
	for _, n := range w.nodes {
		for _, t := range n.timers {
			at = min(at, max(t.at, n.until))
		}
	}
	return at
}

func (w *world) pass(d time.Duration) { w.run(w.now+int64(d), func() bool { return false }) }

// dial has rank 0 connect to rank 1.
func (w *world) dial() {
	a, b := w.nodes[0], w.nodes[1]
	peer := btl.Peer{Rank: 1, Host: b.Hostname(), Address: b.m.Address()}
	paths, err := a.m.Reach(peer)
	require.NoError(w.t, err)
	recv := a.NewReceiver(1)
	recv.Endpoint, err = a.m.Connect(peer, paths[0], recv)
	require.NoError(w.t, err)
	a.uses(recv)
	require.Equal(w.t, btl.Busy, a.ep.Send(frame("h", ""), 0))
}

// connected reports whether both ends may send.
func (w *world) connected() bool {
	a, b := w.nodes[0], w.nodes[1]
	if a.recv.Ups == 0 || len(b.Accepted) == 0 {
		return false
	}
	b.uses(b.Accepted[len(b.Accepted)-1])
	return b.ep.Live() && !b.ep.silent
}

func (w *world) connect() {
	w.dial()
	require.True(w.t, w.run(w.now+int64(time.Minute), w.connected), "%v %v", w.nodes[0].Lines(), w.nodes[1].Lines())
	w.pass(time.Second)
}

// dies has the network be dead, to one rank or, with 2, to both.
func (w *world) dies(to int) {
	for i := range w.ways {
		w.ways[i].dead = to == 2 || to == i
	}
}

func (w *world) revives() { w.dies(-1) }

// there reports whether all that was said has arrived, and who has said it knows.
func (w *world) there() bool {
	for _, n := range w.nodes {
		if len(n.wants) > 0 || n.ep.sender.first != nil {
			return false
		}
	}
	return true
}

func (w *world) downs() int { return w.nodes[0].recv.Downs + w.nodes[1].recv.Downs }

func (w *world) close() {
	w.ways = [2]way{}
	for _, n := range w.nodes {
		n.until = 0
		if n.ep != nil {
			_ = n.ep.Close()
		}
	}
	w.run(w.now+int64(time.Minute), func() bool { return len(w.nodes[0].m.links)+len(w.nodes[1].m.links) == 0 })
	for _, n := range w.nodes {
		_ = n.m.Close()
	}
}

// uses has the node use a connection.
func (n *node) uses(recv *btltest.Receiver) {
	if n.recv == recv {
		return
	}
	n.recv, n.ep = recv, recv.Endpoint.(*endpoint)
	from := n.w.nodes[1-n.rank]
	recv.OnFrame = func(f btltest.Frame) error {
		require.True(n.w.t, from.wants[f.Header], "frame %s came twice", f.Header)
		delete(from.wants, f.Header)
		return nil
	}
}

// say sends a frame, if there is room.
func (n *node) say(size int) {
	header := fmt.Sprint(n.said)
	if n.ep.Send(&btl.Frame{Header: []byte(header), Payload: make([]byte, size), Size: size}, n.w.random.IntN(3)) == btl.Taken {
		n.wants[header] = true
		n.said++
	}
}

// still reports whether the node stands still.
func (n *node) still() bool { return n.w.now < n.until }

// turn does what is to be done now, and reports whether there was anything. What has come to a node's sockets takes its way through the
// network though the node stands still.
func (n *node) turn() (did bool) {
	n.epoch++
	for _, w := range slices.Clone(n.watches) {
		did = w.h.Poll(w.writing && !n.still()) || did
	}
	if n.still() {
		return did
	}
	posted, deferred := n.posted, n.deferred
	n.posted, n.deferred = nil, nil
	for _, f := range posted {
		f()
	}
	for t := n.due(); t != nil; t = n.due() {
		t.Stop()
		t.f()
		did = true
	}
	for _, d := range deferred {
		d.Flush()
	}
	return did || len(posted)+len(deferred) > 0
}

// due is the first timer that is.
func (n *node) due() (first *nodeTimer) {
	for _, t := range n.timers {
		if t.at <= n.w.now && (first == nil || t.at < first.at) {
			first = t
		}
	}
	return first
}

var _ btl.Host = (*node)(nil)

// Loop implements [btl.Host].
func (n *node) Loop() btl.Loop { return n }

// Secret implements [btl.Host].
func (n *node) Secret() []byte { return []byte("the secret of all jobs") }

// Hello implements [btl.Host].
func (n *node) Hello() []byte { return fmt.Appendf(nil, "hello of rank %d", n.rank) }

// Now implements [btl.Loop].
func (n *node) Now() int64 { return n.w.now + n.phase }

// Epoch implements [btl.Loop].
func (n *node) Epoch() uint64 { return n.epoch }

// Flush implements [btl.Loop].
func (n *node) Flush(d btl.Deferred) { n.deferred = append(n.deferred, d) }

// Move implements [btl.Loop]: nothing here is moved.
func (n *node) Move(btl.Mover) { panic("a move") }

// Post implements [btl.Loop].
func (n *node) Post(f func()) { n.posted = append(n.posted, f) }

// After implements [btl.Loop].
func (n *node) After(d time.Duration, f func()) btl.Timer {
	t := &nodeTimer{n: n, f: f}
	t.Reset(d)
	return t
}

// Watch implements [btl.Loop].
func (n *node) Watch(_ int, h btl.Handler) (btl.Watch, error) {
	w := &nodeWatch{n: n, h: h}
	n.watches = append(n.watches, w)
	return w, nil
}

type nodeTimer struct {
	n  *node
	at int64
	f  func()
}

// Stop implements [btl.Timer].
func (t *nodeTimer) Stop() {
	t.n.timers = slices.DeleteFunc(t.n.timers, func(o *nodeTimer) bool { return o == t })
}

// Reset implements [btl.Rearmer].
func (t *nodeTimer) Reset(d time.Duration) {
	t.Stop()
	t.at = t.n.w.now + int64(d)
	t.n.timers = append(t.n.timers, t)
}

type nodeWatch struct {
	n       *node
	h       btl.Handler
	writing bool
}

// Write implements [btl.Watch].
func (w *nodeWatch) Write(on bool) { w.writing = on }

// Stop implements [btl.Watch].
func (w *nodeWatch) Stop() {
	w.n.watches = slices.DeleteFunc(w.n.watches, func(o *nodeWatch) bool { return o == w })
}
