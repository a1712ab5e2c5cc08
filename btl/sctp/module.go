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
	wireup.Base
	loop   btl.Loop
	cfg    config
	stack  stack.Stack
	kind   byte   // of stack; what is published begins with it
	why    string // the reason for this stack
	meddle func(packet []byte, take func([]byte))
	closed bool
}

var _ wireup.Transport = (*module)(nil)

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	did := m.stack.Progress()
	return m.Wire.Work() || did
}

// Reach implements [btl.Module]. There is one path: the association itself chooses
// among the addresses.
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if err := m.IsOther(peer); err != nil {
		return nil, err
	}
	remote, err := decodeAddress(peer.Address)
	if err != nil {
		return nil, m.Unreachable(peer, err)
	}
	if err := m.canMix(remote); err != nil {
		return nil, fmt.Errorf("sctp: rank %d on %s has the %s stack, this rank the %s stack (%s): %w",
			peer.Rank, peer.Host, stackName(remote.stack), stackName(m.kind), m.why, err)
	}
	r, err := m.routeTo(peer.Rank, remote)
	if err != nil {
		return nil, m.Unreachable(peer, err)
	}
	return []btl.Path{m.path(r)}, nil
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Linger implements [wireup.Transport].
func (m *module) Linger() { m.stack.Linger() }

// Close implements [btl.Module]. In the end it waits a little until the peers have our
// last bytes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.Wire.Farewell = m.stack.Farewell()
	m.Wire.Close()
	return m.stack.Close()
}

// warn logs what the stack has to say of itself, or of a stranger.
func (m *module) warn(from netip.AddrPort, err error) {
	if !from.IsValid() {
		m.Host.Logf(btl.LogWarn, "sctp: rank %d: %v", m.Host.Rank(), err)
		return
	}
	m.Wire.Stray(btl.LogWarn, from.String(), err)
}
