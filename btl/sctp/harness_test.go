package sctp

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/userstack"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/param"
)

// Names of the parameters that all transports have.
const (
	pInclude          = prefixOfAll + "if_include"
	pExclude          = prefixOfAll + "if_exclude"
	pPortRange        = prefixOfAll + "port_range"
	pConnectRetries   = prefixOfAll + "connect_retries"
	pConnectTimeout   = prefixOfAll + "connect_timeout"
	pHandshakeTimeout = prefixOfAll + "handshake_timeout"
)

// A node is a rank with a module of its own, driven by the test, which holds the
// engine's lock throughout: nothing happens but what the test polls for. It is its
// own receiver and notes what arrives.
type node struct {
	btl.Host
	t      testing.TB
	rank   int
	values *param.Values
	engine *engine.Engine
	mod    *module
	ep     btl.Endpoint
	ups    int
	downs  []error
	frames []string // payloads, in the order of arrival
	mu     sync.Mutex
	lines  []string
}

var secret = []byte("0123456789abcdef0123456789abcdef")

func tryNode(t testing.TB, rank int, settings ...param.Setting) (*node, error) {
	registry := new(param.Registry)
	Component{}.Declare(registry)
	values, err := registry.Resolve(param.Inputs{Settings: append([]param.Setting{with(pStack, "user"), with(pInclude, "127.0.0.1")}, settings...)})
	if err != nil {
		return nil, err
	}
	e, err := engine.New(engine.Options{})
	require.NoError(t, err)
	n := &node{t: t, rank: rank, values: values, engine: e}
	e.Lock()
	mods, err := Component{}.Open(n)
	if err != nil {
		e.Unlock()
		e.Close()
		return nil, err
	}
	n.mod = mods[0].(*module)
	e.AddProgressor(n.mod)
	t.Cleanup(func() {
		_ = n.mod.Close()
		e.ClearProgressors()
		e.Unlock()
		e.Close()
	})
	return n, nil
}

func newNode(t testing.TB, rank int, settings ...param.Setting) *node {
	n, err := tryNode(t, rank, settings...)
	require.NoError(t, err)
	return n
}

func (n *node) do(f func()) {
	f()
	n.engine.Poll(nil)
}

func (n *node) stack() *userstack.Stack { return n.mod.stack.(*userstack.Stack) }

// await drives the nodes until the condition holds.
func await(t testing.TB, what string, condition func() bool, nodes ...*node) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		for _, n := range nodes {
			n.engine.Poll(nil)
		}
		if condition() {
			return
		}
		require.True(t, time.Now().Before(deadline), "waiting for %s", what)
	}
}

// join connects two nodes, a being who connects.
func join(t testing.TB, a, b *node) {
	a.do(func() {
		peer := btl.Peer{Rank: b.rank, Address: b.mod.Address()}
		paths, err := a.mod.Reach(peer)
		require.NoError(t, err)
		a.ep, err = a.mod.Connect(peer, paths[0], a)
		require.NoError(t, err)
		require.Equal(t, btl.Busy, a.ep.Send(frame("first"), 0))
	})
	await(t, "a connection", func() bool { return a.ups > 0 && b.ups > 0 }, a, b)
}

func frame(payload string) *btl.Frame {
	return &btl.Frame{Header: []byte("header"), Payload: []byte(payload), Size: len(payload)}
}

func taken(r btl.Result) bool { return r == btl.Done || r == btl.Taken }

// send sends one frame, when there is room.
func (n *node) send(payload string, lane int, others ...*node) {
	await(n.t, "room", func() bool {
		result := btl.Busy
		n.do(func() { result = n.ep.Send(frame(payload), lane) })
		return taken(result)
	}, append(others, n)...)
}

func (n *node) Rank() int        { return n.rank }
func (n *node) Size() int        { return 9 }
func (n *node) Hostname() string { return fmt.Sprintf("host%d", n.rank) }
func (n *node) Job() string      { return "job" }
func (n *node) Secret() []byte   { return secret }
func (n *node) PairKey(rank int, found func([]byte, error)) {
	found(fmt.Appendf(nil, "ranks %d and %d", min(n.rank, rank), max(n.rank, rank)), nil)
}
func (n *node) Params() *param.Values { return n.values }
func (n *node) Loop() btl.Loop        { return n.engine }
func (n *node) Hello() []byte         { return []byte("hello") }
func (n *node) Accept(_ btl.Module, _ int, _ []byte, _ int, ep btl.Endpoint) (btl.Receiver, error) {
	n.ep = ep
	return n, nil
}

func (n *node) Logf(_ btl.LogLevel, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *node) Up([]byte)           { n.ups++ }
func (n *node) Writable()           {}
func (n *node) Released(*btl.Frame) {}
func (n *node) Down(err error)      { n.downs = append(n.downs, err) }
func (n *node) Deliver(_, payload []byte) error {
	n.frames = append(n.frames, string(payload))
	return nil
}
func (n *node) Begin(_ []byte, size int) (*btl.Landing, error) {
	memory, l := make([]byte, size), new(btl.Landing)
	l.Set(size, memory, nil, nil)
	l.Owner = memory
	return l, nil
}

func (n *node) End(l *btl.Landing) error {
	n.frames = append(n.frames, string(l.Owner.([]byte)))
	return nil
}

func (n *node) Drop(*btl.Landing) {}

// logged returns the lines that have the text in them.
func (n *node) logged(text string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for _, line := range n.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
