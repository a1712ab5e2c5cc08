package unixsock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// module is the transport in one process. All of it belongs to the loop.
type module struct {
	host     btl.Host
	home     string
	queue    int // bytes
	wire     *wireup.Manager
	listener *net.UnixListener
	group    *handoff.Group
	closed   bool
}

func newModule(h btl.Host, home string) (*module, error) {
	// A random name: no stranger is in its place before it is made.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@strand-" + rand.Text(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	m := &module{host: h, home: home, queue: int(h.Params().Size(pQueue)), listener: l, group: handoff.NewGroup(h.Loop())}
	limit := h.Params().Duration(pTimeout)
	m.wire = wireup.NewManager(h, m, wireup.Config{
		Name: "unix", Prefix: "btl_unix_", Retries: 3, ConnectTimeout: limit, HandshakeTimeout: limit,
		MaxFrame: maxFrame, FrameLimit: maxFrame,
	})
	handoff.FetchAll(m.group, m.wire.Most(), l.Accept, m.visited, hangUp, func(err error) { m.wire.Stray(btl.LogWarn, "", err) })
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
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{} }

// Holds implements [wireup.Transport]: nobody names an address of IP here.
func (m *module) Holds(target netip.AddrPort) bool { return !target.IsValid() }

// Linger implements [wireup.Transport]: the links do that by themselves.
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
	m.group.Close() // waits for the farewell at most
	return err
}
