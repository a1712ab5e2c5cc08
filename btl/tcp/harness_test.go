package tcp

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/param"
)

// Names of the parameters that all transports have.
const (
	pInclude          = prefixOfAll + "if_include"
	pExclude          = prefixOfAll + "if_exclude"
	pReach            = prefixOfAll + "reach"
	pPortMin          = prefixOfAll + "port_min"
	pPortRange        = prefixOfAll + "port_range"
	pConnectRetries   = prefixOfAll + "connect_retries"
	pConnectTimeout   = prefixOfAll + "connect_timeout"
	pHandshakeTimeout = prefixOfAll + "handshake_timeout"
)

// A node is one rank of a test: an engine, a host and the module under test.
type node struct {
	parked *engine.Waiter // who waits for a condition
	t      testing.TB
	rank   int
	size   int
	job    string
	secret []byte
	values *param.Values
	engine *engine.Engine
	clock  *clock
	mod    *module

	unknown  error         // what PairKey answers
	refuse   error         // what Accept answers
	peers    map[int]*peer // by rank
	accepted []*peer       // in order
	onAccept func(*peer)   // before Accept returns

	logMu sync.Mutex
	logs  []string
}

var testSecret = []byte("0123456789abcdef0123456789abcdef")

type option func(*node, *[]param.Setting)

func set(name, text string) option {
	return func(_ *node, s *[]param.Setting) {
		*s = append(*s, param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option, Where: "test"}})
	}
}

// A clock is a node's loop, whose time a test can stop: what a burst is depends on the time between frames.
type clock struct {
	btl.Loop
	stopped bool
	at      int64
}

// stop has time stand still but for pass. The engine's lock is held.
func (c *clock) stop() { c.at, c.stopped = c.Loop.Now(), true }

// pass has so much time pass.
func (c *clock) pass(d time.Duration) { c.at += int64(d) }

// Now implements [btl.Loop].
func (c *clock) Now() int64 {
	if c.stopped {
		return c.at
	}
	return c.Loop.Now()
}

// pairKey is what two ranks share.
func pairKey(a, b int) []byte { return fmt.Appendf(nil, "ranks %d and %d", min(a, b), max(a, b)) }

func withSecret(b []byte) option { return func(n *node, _ *[]param.Setting) { n.secret = b } }
func withJob(s string) option    { return func(n *node, _ *[]param.Setting) { n.job = s } }

// newNode opens a module that listens on the loopback only, unless told
// otherwise.
func newNode(t testing.TB, rank, size int, opts ...option) *node {
	t.Helper()
	n, err := tryNode(t, rank, size, append([]option{set(pInclude, "127.0.0.1")}, opts...)...)
	require.NoError(t, err)
	return n
}

func tryNode(t testing.TB, rank, size int, opts ...option) (*node, error) {
	n := &node{t: t, rank: rank, size: size, job: "job", secret: testSecret, peers: map[int]*peer{}}
	var settings []param.Setting
	for _, o := range opts {
		o(n, &settings)
	}
	last := map[string]param.Setting{}
	for _, s := range settings {
		last[s.Name] = s
	}
	settings = nil
	for _, s := range last {
		settings = append(settings, s)
	}
	var reg param.Registry
	Component{}.Declare(&reg)
	var err error
	n.values, err = reg.Resolve(param.Inputs{Settings: settings})
	require.NoError(t, err)
	n.engine, err = engine.New(engine.Options{Spin: time.Millisecond})
	require.NoError(t, err)
	n.clock = &clock{Loop: n.engine}
	n.engine.Lock()
	mods, err := Component{}.Open(n)
	n.engine.Unlock()
	if err != nil {
		n.engine.Close()
		return nil, err
	}
	n.mod = mods[0].(*module)
	t.Cleanup(n.close)
	return n, nil
}

func (n *node) close() {
	n.engine.Lock()
	_ = n.mod.Close() // the tests that are about it look
	n.engine.Unlock()
	n.engine.Close()
}

func (n *node) Rank() int        { return n.rank }
func (n *node) Size() int        { return n.size }
func (n *node) Hostname() string { return fmt.Sprintf("host%d", n.rank) }
func (n *node) Job() string      { return n.job }
func (n *node) Secret() []byte   { return n.secret }
func (n *node) PairKey(rank int, found func([]byte, error)) {
	found(pairKey(n.rank, rank), n.unknown)
}
func (n *node) Params() *param.Values { return n.values }
func (n *node) Loop() btl.Loop        { return n.clock }
func (n *node) Hello() []byte         { return fmt.Appendf(nil, "hello of %d", n.rank) }

func (n *node) Accept(_ btl.Module, rank int, hello []byte, path int, ep btl.Endpoint) (btl.Receiver, error) {
	if n.refuse != nil {
		return nil, n.refuse
	}
	p := n.newPeer(rank)
	p.ep = ep.(*endpoint)
	n.accepted = append(n.accepted, p)
	if n.onAccept != nil {
		n.onAccept(p)
	}
	return p, nil
}

func (n *node) Logf(level btl.LogLevel, format string, args ...any) {
	n.logMu.Lock()
	defer n.logMu.Unlock()
	n.logs = append(n.logs, fmt.Sprintf("%d ", level)+fmt.Sprintf(format, args...))
}

// logged returns the lines so far at the given level.
func (n *node) logged(level btl.LogLevel) []string {
	n.logMu.Lock()
	defer n.logMu.Unlock()
	var out []string
	for _, l := range n.logs {
		if l[0] == byte('0'+level) {
			out = append(out, l[2:])
		}
	}
	return out
}

func (n *node) newPeer(rank int) *peer {
	p := &peer{n: n, rank: rank}
	n.peers[rank] = p
	return p
}

// reach returns a peer whose endpoint is made but not connected.
func (n *node) reach(to *node) *peer {
	n.t.Helper()
	return n.reachAddress(to.rank, to.mod.Address())
}

func (n *node) reachAddress(rank int, address []byte) *peer {
	n.t.Helper()
	n.engine.Lock()
	defer n.engine.Unlock()
	who := btl.Peer{Rank: rank, Host: fmt.Sprintf("host%d", rank), Address: address}
	paths, err := n.mod.Reach(who)
	require.NoError(n.t, err)
	return n.connectBy(who, paths[0])
}

// connectBy makes an endpoint over a path. The engine's lock is held.
func (n *node) connectBy(who btl.Peer, path btl.Path) *peer {
	n.t.Helper()
	p := n.newPeer(who.Rank)
	ep, err := n.mod.Connect(who, path, p)
	require.NoError(n.t, err)
	p.ep = ep.(*endpoint)
	return p
}

// until waits for a condition, which is looked at under the engine's lock.
func (n *node) until(what string, f func() bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	n.engine.Lock()
	defer n.engine.Unlock()
	if err := n.engine.Wait(ctx, &condition{n, f}, nil); err != nil {
		n.t.Fatalf("rank %d: waiting for %s: %v\n%s", n.rank, what, err, n.logs)
	}
}

func (n *node) do(f func()) {
	n.engine.Lock()
	defer n.engine.Unlock()
	f()
}

// A condition is looked at after every poll, and when a peer has had an up-call: that may come of a move that another goroutine has made.
type condition struct {
	n    *node
	done func() bool
}

func (c *condition) Done() bool            { return c.done() }
func (c *condition) Park(w *engine.Waiter) { c.n.parked = w }

// wake has whoever waits look again.
func (n *node) wake() {
	if n.parked != nil {
		n.engine.Wake(n.parked)
	}
}

// A peer is what a test sees of one endpoint: it keeps everything.
type peer struct {
	n    *node
	rank int
	ep   *endpoint

	ups      int
	hello    string
	writable int
	released []*btl.Frame
	frames   []message
	down     error
	downs    int
	dropped  int
	began    int

	onDeliver  func(message) error
	onReleased func()
	onUp       func()
	onBegin    func(header []byte, size int) *btl.Landing
	buffer     []byte
}

type message struct{ header, payload string }

func (p *peer) Up(hello []byte) {
	p.ups++
	p.hello = string(hello)
	p.n.wake()
	if p.onUp != nil {
		p.onUp()
	}
}
func (p *peer) Writable() {
	p.writable++
	p.n.wake()
}

func (p *peer) Released(f *btl.Frame) {
	p.released = append(p.released, f)
	p.n.wake()
	if p.onReleased != nil {
		p.onReleased()
	}
}

func (p *peer) Drop(*btl.Landing) {
	p.dropped++
	p.n.wake()
}

func (p *peer) Down(err error) {
	p.down = err
	p.downs++
	p.n.wake()
}

func (p *peer) Deliver(h, b []byte) error {
	m := message{string(h), string(b)}
	p.frames = append(p.frames, m)
	p.n.wake()
	if p.onDeliver != nil {
		return p.onDeliver(m)
	}
	return nil
}

func (p *peer) Begin(header []byte, size int) (*btl.Landing, error) {
	p.began++
	if p.onBegin != nil {
		return p.onBegin(header, size), nil
	}
	l := new(btl.Landing)
	buf := make([]byte, size)
	l.Set(size, buf, nil, nil)
	l.Owner = message{header: string(header)}
	p.buffer = buf
	return l, nil
}

func (p *peer) End(l *btl.Landing) error {
	m := l.Owner.(message)
	m.payload = string(p.buffer)
	p.frames = append(p.frames, m)
	p.n.wake()
	if p.onDeliver != nil {
		return p.onDeliver(m)
	}
	return nil
}

// send gives a frame to the endpoint, waiting while it is busy.
func (p *peer) send(f *btl.Frame) btl.Result {
	p.n.t.Helper()
	r := btl.Busy
	p.n.until("room to send", func() bool {
		if r == btl.Busy { // once it is sent it is not sent again, however often the condition is looked at
			r = p.ep.Send(f, 0)
		}
		return r != btl.Busy
	})
	return r
}

// connected waits until the endpoint is up.
func (p *peer) connected() {
	p.n.t.Helper()
	p.n.do(func() { p.ep.Connect() })
	p.n.until("a connection", func() bool { return p.ups > 0 })
}

func frame(header string, payload ...string) *btl.Frame {
	f := &btl.Frame{Header: []byte(header)}
	for i, s := range payload {
		f.Size += len(s)
		if i == 0 {
			f.Payload = []byte(s)
		} else {
			f.More = append(f.More, []byte(s))
		}
	}
	return f
}
