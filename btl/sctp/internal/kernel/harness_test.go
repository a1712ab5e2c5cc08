//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
)

// watchdog is how long a test waits for what must come.
const watchdog = 30 * time.Second

// loop is a progress engine that the test turns by hand.
type loop struct {
	t       testing.TB
	watches []*watch
	timers  []*timer
	mu      sync.Mutex
	posted  []func()
	epoch   uint64
}

type watch struct {
	l       *loop
	fd      int
	h       btl.Handler
	writing bool
	asleep  bool // the test lets nothing come through
}

type timer struct {
	at time.Time
	f  func()
}

func (l *loop) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	w := &watch{l: l, fd: fd, h: h}
	l.watches = append(l.watches, w)
	return w, nil
}

func (w *watch) Write(on bool) { w.writing = on }
func (w *watch) Stop() {
	w.l.watches = slices.DeleteFunc(w.l.watches, func(v *watch) bool { return v == w })
}

func (l *loop) After(d time.Duration, f func()) btl.Timer {
	t := &timer{time.Now().Add(d), f}
	l.timers = append(l.timers, t)
	return t
}

func (t *timer) Stop() { t.f = nil }

func (l *loop) Post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, f)
}

func (l *loop) Now() int64         { return time.Now().UnixNano() }
func (l *loop) Epoch() uint64      { return l.epoch }
func (l *loop) Flush(btl.Deferred) { l.t.Error("nothing is to be flushed") }
func (l *loop) Move(btl.Mover)     { l.t.Error("nothing is to be moved") }

// turn waits a little for something to happen and lets it.
func (l *loop) turn() {
	l.epoch++
	var fds []unix.PollFd
	watches := slices.DeleteFunc(slices.Clone(l.watches), func(w *watch) bool { return w.asleep })
	for _, w := range watches {
		events := int16(unix.POLLIN)
		if w.writing {
			events |= unix.POLLOUT
		}
		fds = append(fds, unix.PollFd{Fd: int32(w.fd), Events: events})
	}
	_, _ = unix.Poll(fds, 2)
	for i, w := range watches {
		if fds[i].Revents != 0 {
			w.h.Poll(fds[i].Revents&unix.POLLOUT != 0)
		}
	}
	now := time.Now()
	for _, t := range slices.Clone(l.timers) {
		if t.f != nil && now.After(t.at) {
			f := t.f
			t.f = nil
			f()
		}
	}
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, f := range posted {
		f()
	}
}

// until turns the loop until something is so.
func (l *loop) until(what string, so func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(watchdog); !so(); {
		if time.Now().After(deadline) {
			l.t.Fatal("never: " + what)
		}
		l.turn()
	}
}

// node is a stack under test.
type node struct {
	*kernel
	l        *loop
	accepted []*peer
	refuse   bool
	warned   []error
}

var localhost = netip.MustParseAddr("127.0.0.1")

func tuning() stack.Tuning {
	return stack.Tuning{
		Streams: 11, MaxMessage: 1 << 17, Outstanding: 1 << 20,
		RTOInitial: 200 * time.Millisecond, RTOMin: 100 * time.Millisecond, RTOMax: time.Second,
		ConnectTimeout: 5 * time.Second,
	}
}

func newNode(l *loop, change ...func(*stack.Config)) *node {
	need.KernelSCTP(l.t)
	n := &node{l: l}
	cfg := stack.Config{Loop: l, Local: []netip.Addr{localhost}, Tuning: tuning()}
	cfg.Accept = func(a stack.Association) stack.Handler {
		if n.refuse {
			return nil
		}
		p := &peer{t: l.t, a: a.(*association), up: true}
		n.accepted = append(n.accepted, p)
		return p
	}
	cfg.Warn = func(_ netip.AddrPort, err error) { n.warned = append(n.warned, err) }
	for _, c := range change {
		c(&cfg)
	}
	s, err := Open(cfg)
	require.NoError(l.t, err)
	n.kernel = s.(*kernel)
	l.t.Cleanup(func() { require.NoError(l.t, n.Close()) })
	return n
}

// sleep keeps the node from reading, or lets it again.
func (n *node) sleep(yes bool) { n.kernel.watch.(*watch).asleep = yes }

func (n *node) routeTo(m *node) stack.Route {
	var r stack.Route
	for _, a := range m.cfg.Local {
		r.Pairs = append(r.Pairs, stack.Pair{Local: n.cfg.Local[0], Remote: netip.AddrPortFrom(a, m.Port()), Nearby: true})
	}
	return r
}

// call begins an association.
func (n *node) call(m *node) *peer {
	p := &peer{t: n.l.t}
	a, err := n.Associate(n.routeTo(m), p)
	require.NoError(n.l.t, err)
	p.a = a.(*association)
	return p
}

// join makes an association and returns both its ends.
func (n *node) join(m *node) (here, there *peer) {
	before := len(m.accepted)
	here = n.call(m)
	n.l.until("both ends are up", func() bool { return here.up && len(m.accepted) > before })
	return here, m.accepted[before]
}

// peer is one end of an association, and its handler.
type peer struct {
	t        testing.TB
	a        *association
	up       bool
	ended    error
	writable int
	messages []message
	parts    map[uint16]*message
	count    int // of messages
	keepNot  bool
	paths    []btl.PathState
	onRoom   func() // called by Writable
}

type message struct {
	stream uint16
	ppid   uint32
	data   []byte
}

func (p *peer) Up() {
	if p.up {
		p.t.Error("Up twice")
	}
	p.up = true
}

func (p *peer) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	if p.keepNot {
		if end {
			p.count++
		}
		return
	}
	if p.parts == nil {
		p.parts = map[uint16]*message{}
	}
	m := p.parts[stream]
	if m == nil {
		m = &message{stream: stream, ppid: ppid}
		p.parts[stream] = m
	}
	m.data = append(m.data, piece...)
	if end {
		p.count++
		p.messages = append(p.messages, *m)
		delete(p.parts, stream)
	}
}

func (p *peer) Released(*btl.Frame) {}

func (p *peer) Writable() {
	p.writable++
	if p.onRoom != nil {
		p.onRoom()
	}
}

func (p *peer) PathChanged(s btl.PathState) { p.paths = append(p.paths, s) }

func (p *peer) Down(err error) {
	if p.ended != nil {
		p.t.Error("Down twice")
	}
	if err == nil {
		err = errors.New("Down without a reason")
	}
	p.ended = err
}
