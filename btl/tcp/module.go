package tcp

import (
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// module is TCP over all selected interfaces of a process.
type module struct {
	host btl.Host
	loop btl.Loop
	cfg  config
	attr btl.Attr

	wire      *wireup.Manager // sets up the connections
	local     *wireup.Local
	blob      []byte // local, encoded
	listeners []*listener
	preset    string // the congestion control that the system gives to new sockets
	closed    bool

	vector  rawio.Vector // all sending is serial
	scratch []byte       // for handshakes, and for what nobody reads
	buffers lender       // of connections
}

var _ wireup.Transport = (*module)(nil)

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attr }

// Address implements [btl.Module].
func (m *module) Address() []byte { return m.blob }

// Progress implements [btl.Module]: all work is announced by descriptors.
func (m *module) Progress() bool { return false }

// Reach implements [btl.Module].
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank == m.host.Rank() {
		return nil, fmt.Errorf("tcp: rank %d is this process, which btl self serves", peer.Rank)
	}
	remote, err := wireup.Decode(peer.Address)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	paths, err := m.pathsTo(peer.Rank, remote)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	return paths, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return m.wire.Connect(peer, path, recv)
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Holds implements [wireup.Transport].
func (m *module) Holds(target netip.AddrPort) bool { return m.local.Meant(target) }

// Linger implements [wireup.Transport]. A confirmation makes nothing readable, so the wait is
// a short one.
func (m *module) Linger() {
	var fds []int
	for _, l := range m.wire.Leaving() {
		fds = append(fds, l.(*linger).conn.FD())
	}
	rawio.WaitAny(fds, 1)
}

// Close implements [btl.Module]. It waits a little, in the end, for the peers'
// systems to confirm the goodbyes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	for _, l := range m.listeners {
		l.close()
	}
	m.wire.Close()
	m.buffers.close()
	return nil
}
