package sctp

import (
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/wireup"
)

// module is SCTP over all selected interfaces of a process.
type module struct {
	host  btl.Host
	loop  btl.Loop
	cfg   config
	attr  btl.Attr
	wire  *wireup.Manager // sets up the connections
	stack stack.Stack
	kind  byte   // of stack
	why   string // this stack

	local  *wireup.Local
	blob   []byte // kind and local, encoded
	closed bool
}

var _ wireup.Transport = (*module)(nil)

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attr }

// Address implements [btl.Module].
func (m *module) Address() []byte { return m.blob }

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	did := m.stack.Progress()
	return m.wire.Work() || did
}

// Reach implements [btl.Module]. There is one path: an association knows by
// itself which addresses it uses.
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank == m.host.Rank() {
		return nil, fmt.Errorf("sctp: rank %d is this process, which btl self serves", peer.Rank)
	}
	remote, err := decodeAddress(peer.Address)
	if err != nil {
		return nil, fmt.Errorf("sctp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	if err := m.canMix(remote); err != nil {
		return nil, fmt.Errorf("sctp: rank %d on %s has the %s stack, this rank the %s stack (%s): %w",
			peer.Rank, peer.Host, stackName(remote.stack), stackName(m.kind), m.why, err)
	}
	r, err := m.routeTo(peer.Rank, remote)
	if err != nil {
		return nil, fmt.Errorf("sctp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	return []btl.Path{m.path(r)}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return m.wire.Connect(peer, path, recv)
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Holds implements [wireup.Transport].
func (m *module) Holds(target netip.AddrPort) bool { return m.local.Meant(target) }

// Linger implements [wireup.Transport].
func (m *module) Linger() { m.stack.Linger() }

// Close implements [btl.Module]. It waits a little, in the end, for the peers to
// have our last bytes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.wire.Close()
	return m.stack.Close()
}

// warn logs what the stack has to say of itself, or of a stranger.
func (m *module) warn(from netip.AddrPort, err error) {
	if !from.IsValid() {
		m.host.Logf(btl.LogWarn, "sctp: rank %d: %v", m.host.Rank(), err)
		return
	}
	m.wire.Stray(btl.LogWarn, from.String(), err)
}
