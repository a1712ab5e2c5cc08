package tcp

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/networks"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
)

// module is TCP over all selected interfaces of a process.
type module struct {
	host btl.Host
	loop btl.Loop
	cfg  config
	attr btl.Attr
	id   *handshake.Identity

	local     networks.Address
	side      reach.Side // local, and what this host holds besides
	blob      []byte     // local, encoded
	listeners []*listener
	preset    string        // the congestion control that the system gives to new sockets
	routes    *reach.Memory // the policy, and what it has found out
	asked     int64         // when the kernel was last asked anew; 0: it is to be
	strangers *crowd        // connected to us and not yet proved
	slots     map[slotKey]*slot
	leaving   map[*linger]struct{}
	greeting  []byte
	strays    networks.Limiter
	grace     time.Duration // for our attempts when the peer's has come through
	closed    bool

	vector  rawio.Vector // all sending is serial
	scratch []byte       // for handshakes, and for what nobody reads
	buffers lender       // of connections
}

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
	remote, err := networks.Decode(peer.Address)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	pairs, spares, err := m.pairsTo(peer.Rank, remote)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	paths := make([]btl.Path, 0, len(pairs)+len(spares))
	for i, p := range pairs {
		paths = append(paths, m.path(p, i))
	}
	for i, p := range spares {
		paths = append(paths, m.path(p, spareIndex(i)))
	}
	return paths, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	p, ok := path.Private.(pair)
	switch {
	case m.closed:
		return nil, btl.ErrClosed
	case !ok:
		return nil, fmt.Errorf("tcp: rank %d: the path %q was not made by this module", peer.Rank, path.Desc)
	case peer.Rank < 0 || peer.Rank >= m.host.Size() || peer.Rank == m.host.Rank():
		return nil, fmt.Errorf("tcp: rank %d: not another rank of this job, which has %d", peer.Rank, m.host.Size())
	case path.Index < 0 || path.Index >= maxPaths:
		return nil, fmt.Errorf("tcp: rank %d: path %d, allowed are 0 to %d", peer.Rank, path.Index, maxPaths-1)
	}
	s := m.slot(peer.Rank, path.Index)
	if s.ep != nil && s.ep.state != stateFailed {
		return nil, fmt.Errorf("tcp: rank %d has an endpoint for path %d already: %s", peer.Rank, path.Index, s.ep.Desc())
	}
	ep := newEndpoint(m, s, peer.Host)
	ep.pair, ep.recv = p, recv
	s.ep = ep
	return ep, nil
}

// identity is made when the first handshake begins: while the module is opened the job's
// secret is not known yet.
func (m *module) identity() *handshake.Identity {
	if m.id == nil {
		m.id = handshake.NewIdentity(m.host.Job(), m.host.Secret(), m.host.Rank())
	}
	return m.id
}

// ourGreeting is what every peer is told in the handshake. The host's hello is
// fixed once the modules are open, so it is made at the first need.
func (m *module) ourGreeting() []byte {
	if m.greeting == nil {
		m.greeting = greeting{maxFrame: m.cfg.maxFrag, host: m.host.Hostname(), hello: m.host.Hello()}.encode()
	}
	return m.greeting
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
	for _, p := range m.strangers.All() {
		p.Who.drop()
	}
	for _, s := range m.slots {
		if s.reserve != nil {
			s.reserve.drop()
		}
		if s.ep != nil {
			_ = s.ep.Close()
		}
	}
	m.finishLeaving()
	m.buffers.close()
	return nil
}
