package broken

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

type idle struct{}

func (idle) Poll(bool) bool { return false }

// leak keeps something open until the component is stopped.
func (c *Component) leak(what io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaks = append(c.leaks, what)
}

func (c *Component) waste(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap = append(c.heap, make([]byte, n))
}

// moduleFaults are those of a component and its modules.
var moduleFaults = []Fault{
	{Name: "states a MaxFrame that is too small", Case: "attributes", Rule: "attributes",
		config: func(c *mem.Config) { c.MaxFrame = 1000 }},
	{Name: "changes its attributes", Case: "attributes", Rule: "attributes",
		attr: func(m *Module, a btl.Attr) btl.Attr {
			a.Bandwidth += m.calls
			return a
		}},
	{Name: "has another address each time", Case: "attributes", Rule: "attributes",
		address: func(m *Module, a []byte) []byte { return append(bytes.Clone(a), byte(m.calls)) }},
	{Name: "has the secret in its address", Case: "attributes", Rule: "discreet",
		address: func(m *Module, a []byte) []byte { return append(bytes.Clone(a), m.Secret()...) }},
	{Name: "describes an endpoint by the secret", Case: "reports", Rule: "discreet",
		extend: func(l *Link) btl.Endpoint { return indiscreet{l} }},
	{Name: "is connected before it connects", Case: "reports", Rule: "attributes",
		extend: func(l *Link) btl.Endpoint { return stating{l, "CONNECTED"} }},
	{Name: "has a state of its own", Case: "reports", Rule: "attributes",
		extend: func(l *Link) btl.Endpoint { return stating{l, "UP"} }},
	{Name: "logs the key of a pair", Case: "hello", Rule: "discreet",
		up: func(l *Link, hello []byte) {
			l.m.PairKey(1, func(key []byte, _ error) { l.m.Logf(btl.LogDebug, "rank 1 has key %v", key) })
			l.r.Up(hello)
		}},
	{Name: "says the secret in an error", Case: "peer-dies-idle", Rule: "discreet",
		down: func(l *Link, err error) { l.r.Down(fmt.Errorf("%w (%x)", err, l.m.Secret())) }},
	{Name: "states a MaxFrame that it can not carry", Case: "sizes", Rule: "stays-up",
		attr: func(_ *Module, a btl.Attr) btl.Attr {
			a.MaxFrame++
			return a
		}},
	{Name: "trusts an address", Case: "reach-garbage", Rule: "no-panic",
		reach: func(_ *Module, p btl.Peer) { _ = p.Address[7] }},
	{Name: "trusts an address that it connects to", Case: "reach-garbage", Rule: "no-panic",
		connect: func(l *Link) {
			if l.address[7] != 0 { // numbers are small
				panic("no such address")
			}
		}},
	{Name: "weighs a path with what is no number", Case: "attributes", Rule: "reach",
		paths: func(paths []btl.Path) { paths[0].Weight = math.NaN() }},
	{Name: "states a bandwidth below nothing", Case: "attributes", Rule: "reach",
		paths: func(paths []btl.Path) { paths[0].Bandwidth = -1 }},
	{Name: "offers spare paths alone", Case: "attributes", Rule: "reach",
		paths: func(paths []btl.Path) { paths[0].Spare = btl.Detour }},
	{Name: "describes no endpoint", Case: "reports", Rule: "attributes",
		extend: func(l *Link) btl.Endpoint { return nameless{l} }},
	{Name: "counts nothing", Case: "counters", Rule: "counters",
		extend: func(l *Link) btl.Endpoint {
			return counting{l, func(c *btl.Counters) { *c = btl.Counters{} }}
		}},
	{Name: "says that nothing waits, whatever does", Case: "busy-writable", Rule: "counters",
		extend: func(l *Link) btl.Endpoint { return light{l} }},
	{Name: "counts payloads alone", Case: "counters", Rule: "counters",
		extend: func(l *Link) btl.Endpoint {
			return counting{l, func(c *btl.Counters) { c.BytesSent -= c.FramesSent }}
		}},
	{Name: "counts bytes that it tries to send in vain", Case: "counters", Rule: "counters",
		extend: func(l *Link) btl.Endpoint {
			return counting{l, func(c *btl.Counters) { c.BytesSent *= 2 }}
		}},
	{Name: "says that a successful poll did nothing", Case: "poller", Rule: "poller",
		extend: func(l *Link) btl.Endpoint { return polling{l} }},
	{Name: "always has progressed", Case: "rest", Rule: "rest", always: true},
	{Name: "always has polled something", Case: "rest", Rule: "rest",
		extend: func(l *Link) btl.Endpoint { return restless{polling{l}} }},
	{Name: "panics when strangers call", Case: "strangers", Rule: "no-panic",
		stray: func(*Module) { panic("unexpected byte") }},
	{Name: "cuts off everybody when strangers call", Case: "strangers", Rule: "stays-up",
		stray: func(m *Module) {
			for _, l := range m.links {
				_ = mem.Sever(l.inner)
			}
		}},
	{Name: "warns of each stranger", Case: "strangers", Rule: "harmless",
		stray: func(m *Module) { m.Logf(btl.LogWarn, "somebody came") }},
	{Name: "shows people what strangers send", Case: "strangers", Rule: "harmless",
		stray: func(m *Module) { m.Logf(btl.LogDebug, "somebody says \x1b[2J") }},
	{Name: "stops reading when strangers call", Case: "strangers", Rule: "harmless",
		stray: func(m *Module) {
			for _, l := range m.links {
				l.isBusy = true
			}
		},
		deliver: func(l *Link, header, payload []byte) error {
			if l.isBusy {
				return nil
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "panics at damage", Case: "damage", Rule: "no-panic",
		deliver: func(l *Link, header, payload []byte) error {
			if err := l.r.Deliver(header, payload); err != nil {
				panic(err)
			}
			return nil
		}},
	{Name: "cuts off everybody when one connection is damaged", Case: "damage", Rule: "stays-up",
		deliver: func(l *Link, header, payload []byte) error {
			err := l.r.Deliver(header, payload)
			if err != nil {
				for _, other := range l.m.links {
					_ = mem.Sever(other.inner)
				}
			}
			return err
		}},
	{Name: "delivers nothing any more when one connection is damaged", Case: "damage", Rule: "harmless",
		deliver: func(l *Link, header, payload []byte) error {
			if l.isBusy {
				return nil
			}
			err := l.r.Deliver(header, payload)
			if err != nil {
				for _, other := range l.m.links {
					other.isBusy = true
				}
			}
			return err
		}},
	{Name: "uses the loop from a goroutine", Case: "attributes", Rule: "serial",
		open: func(m *Module) {
			done := make(chan struct{})
			go func() {
				m.Host.Loop().Epoch()
				close(done)
			}()
			<-done
		}},
	{Name: "watches a descriptor that blocks", Case: "attributes", Rule: "no-block",
		open: func(m *Module) {
			r, w, err := os.Pipe()
			if err != nil {
				panic(err)
			}
			m.c.leak(r)
			m.c.leak(w)
			if _, err := m.Host.Loop().Watch(int(r.Fd()), idle{}); err != nil {
				panic(err)
			}
		}},
	{Name: "leaves a timer", Case: "leak-worlds", Rule: "clean",
		open: func(m *Module) { m.Host.Loop().After(time.Hour, func() {}) }},
	{Name: "leaves a goroutine", Case: "leak-worlds", Rule: "clean",
		open: func(m *Module) {
			go func() { <-m.c.done }()
		}},
	{Name: "leaves a descriptor", Case: "leak-worlds", Rule: "clean",
		open: func(m *Module) {
			f, err := os.Open(os.DevNull)
			if err != nil {
				panic(err)
			}
			m.c.leak(f)
		}},
	{Name: "leaves memory for each frame", Case: "leak-memory", Rule: "clean",
		deliver: func(l *Link, header, payload []byte) error {
			l.m.c.waste(len(payload))
			return l.r.Deliver(header, payload)
		}},
	{Name: "leaves a little memory for each frame", Case: "leak-memory", Rule: "clean",
		deliver: func(l *Link, header, payload []byte) error {
			l.m.c.waste(64)
			return l.r.Deliver(header, payload)
		}},
	{Name: "leaves memory for each endpoint", Case: "leak-endpoints", Rule: "clean",
		connect: func(l *Link) { l.m.c.waste(64 << 10) }},
	{Name: "reports an error for nothing", Case: "close-both", Rule: "open",
		close: func(l *Link) error {
			_ = l.inner.Close()
			return btl.ErrClosed
		}},
	{Name: "does not say why it does not reach a peer", Case: "reach-garbage", Rule: "reach",
		open: func(m *Module) { m.c.silent = true }},
}
