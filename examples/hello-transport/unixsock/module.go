package unixsock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
)

// module is the transport in one process. All of it belongs to the loop, but for
// conns and running.
type module struct {
	host      btl.Host
	home      string
	listener  *net.UnixListener
	peers     map[int]*endpoint // by rank, the present one
	strangers int               // connections that have not proved anything
	closed    bool

	ending  context.Context // ends when the module closes
	stop    context.CancelFunc
	conns   conns
	writers sync.WaitGroup
	running sync.WaitGroup // all other goroutines
}

const (
	// maxStrangers bounds what those who prove nothing can take up.
	maxStrangers = 64
	// farewell is how long a closed connection may take to send its last frames.
	farewell = 500 * time.Millisecond
)

func newModule(h btl.Host, home string) (*module, error) {
	// A random name: no stranger is in its place before it is made.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@strand-" + rand.Text(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	m := &module{host: h, home: home, listener: l, peers: make(map[int]*endpoint)}
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
	return []btl.Path{{Bandwidth: attributes.Bandwidth, Latency: attributes.Latency, Weight: 1, Desc: name}}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, _ btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	name, err := m.socket(peer.Address)
	switch {
	case m.closed:
		return nil, btl.ErrClosed
	case err != nil:
		return nil, err
	case m.peers[peer.Rank] != nil:
		return nil, fmt.Errorf("unix: rank %d has an endpoint already", peer.Rank)
	}
	e := &endpoint{m: m, rank: peer.Rank, host: peer.Host, name: name, recv: recv}
	m.peers[peer.Rank] = e
	return e, nil
}

// Progress implements [btl.Module]: all work comes by Post.
func (m *module) Progress() bool { return false }

// Close implements [btl.Module].
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	err := m.listener.Close()
	for _, e := range m.peers {
		e.end()
	}
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

// visited lets a stranger prove that it belongs to the job.
func (m *module) visited(conn net.Conn) {
	if m.closed || m.strangers == maxStrangers {
		m.conns.drop(conn)
		return
	}
	m.strangers++
	c := m.credentials()
	m.running.Go(func() {
		rank, hello, err := c.examine(conn)
		m.host.Loop().Post(func() {
			m.strangers--
			if err != nil || m.closed {
				m.host.Logf(btl.LogInfo, "unix: rank %d: dropped a connection: %v", m.host.Rank(), err)
				m.conns.drop(conn)
				return
			}
			m.admit(conn, rank, hello)
		})
	})
}

// admit decides about a peer that has connected. If both sides connect at the
// same time the lower rank's attempt wins.
func (m *module) admit(conn net.Conn, rank int, hello []byte) {
	e := m.peers[rank]
	if e != nil && (e.state == up || e.state == connecting && m.host.Rank() < rank) {
		m.turnAway(conn, duplicate, nil)
		return
	}
	if e == nil {
		e = &endpoint{m: m, rank: rank, name: fmt.Sprintf("rank %d", rank), state: connecting}
		m.peers[rank] = e
		recv, err := m.host.Accept(m, rank, hello, 0, e)
		if err != nil {
			e.end()
			m.turnAway(conn, refused, []byte(err.Error()))
			return
		}
		e.recv = recv
	}
	if e.state == ended { // closed from within Accept
		m.conns.drop(conn)
		return
	}
	e.start(conn, verdict(accepted, m.host.Hello()), hello)
}

// turnAway tells a peer why it is not let in.
func (m *module) turnAway(conn net.Conn, code byte, reason []byte) {
	m.running.Go(func() {
		_, _ = conn.Write(verdict(code, reason))
		m.conns.drop(conn)
	})
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
