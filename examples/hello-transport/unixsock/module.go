package unixsock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// module is the transport in one process. All of it belongs to the loop, but for
// conns and running.
type module struct {
	host     btl.Host
	home     string
	wire     *wireup.Manager
	listener *net.UnixListener
	closed   bool

	ending  context.Context // ends when the module closes
	stop    context.CancelFunc
	conns   conns
	writers sync.WaitGroup
	running sync.WaitGroup // all other goroutines
}

// farewell is how long a closed connection may take to send its last frames.
const farewell = 500 * time.Millisecond

func newModule(h btl.Host, home string) (*module, error) {
	// A random name: no stranger is in its place before it is made.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@strand-" + rand.Text(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	m := &module{host: h, home: home, listener: l}
	limit := h.Params().Duration(pTimeout)
	m.wire = wireup.NewManager(h, m, wireup.Config{
		Name: "unix", Prefix: "btl_unix_", Retries: 3, ConnectTimeout: limit, HandshakeTimeout: limit,
		MaxFrame: maxFrame, FrameLimit: maxFrame,
	})
	m.ending, m.stop = context.WithCancel(context.Background())
	m.running.Go(m.listen)
	return m, nil
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return attributes }

// Address implements [btl.Module].
func (m *module) Address() []byte { return []byte(m.home + "\n" + m.listener.Addr().String()) }

// socket finds the name of a peer's socket in its address.
func (m *module) socket(address []byte) (string, error) {
	name, here := strings.CutPrefix(string(address), m.home+"\n")
	switch {
	case !here:
		return "", errors.New("unix: it lives on another host, or in another network namespace")
	case !strings.HasPrefix(name, "@") || len(name) > 100:
		return "", fmt.Errorf("unix: malformed address: %.120q", name)
	}
	return name, nil
}

// Reach implements [btl.Module].
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank == m.host.Rank() {
		return nil, fmt.Errorf("unix: rank %d is this process", peer.Rank)
	}
	name, err := m.socket(peer.Address)
	if err != nil {
		return nil, err
	}
	return []btl.Path{{Bandwidth: attributes.Bandwidth, Latency: attributes.Latency, Weight: 1, Desc: name,
		Private: way{m.listener.Addr().String(), name}}}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return m.wire.Connect(peer, path, recv)
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Holds implements [wireup.Transport]: nobody names an address of IP here.
func (m *module) Holds(target netip.AddrPort) bool { return !target.IsValid() }

// Linger implements [wireup.Transport]: the writers do that by themselves.
func (m *module) Linger() {}

// Progress implements [btl.Module]: all work comes by Post.
func (m *module) Progress() bool { return false }

// Close implements [btl.Module].
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	err := m.listener.Close()
	m.wire.Close()
	m.writers.Wait() // at most for the farewell
	m.stop()
	m.conns.close()
	m.running.Wait()
	return err
}

// listen takes connections and hands them to the loop.
func (m *module) listen() {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		if m.conns.add(conn) {
			m.host.Loop().Post(func() { m.visited(conn) })
		}
	}
}

// conns are all open connections, so that closing the module can end them.
type conns struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// add reports whether the connection may be used; if not it is closed.
func (c *conns) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.Close()
		return false
	}
	if c.open == nil {
		c.open = make(map[net.Conn]struct{})
	}
	c.open[conn] = struct{}{}
	return true
}

func (c *conns) drop(conn net.Conn) {
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	conn.Close()
}

func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		conn.Close()
	}
}
