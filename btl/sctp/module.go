package sctp

import (
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/strangers"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// module is SCTP over all selected interfaces of a process.
type module struct {
	host  btl.Host
	loop  btl.Loop
	cfg   config
	attr  btl.Attr
	id    *handshake.Identity
	stack stack.Stack
	why   string // this stack

	local     address
	side      reach.Side                 // local, and what this host holds besides
	blob      []byte                     // local, encoded
	strangers *strangers.Crowd[*inbound] // come to us and not yet proved
	slots     map[int]*slot
	leaving   map[*linger]struct{}
	greeting  []byte
	strays    wireup.Limiter
	closed    bool
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attr }

// Address implements [btl.Module].
func (m *module) Address() []byte { return m.blob }

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	did := m.stack.Progress()
	for l := range m.leaving {
		did = l.work() || did
	}
	return did
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
			peer.Rank, peer.Host, stackName(remote.stack), stackName(m.local.stack), m.why, err)
	}
	r, err := m.routeTo(peer.Rank, remote)
	if err != nil {
		return nil, fmt.Errorf("sctp: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	return []btl.Path{m.path(r)}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	r, ok := path.Private.(*route)
	switch {
	case m.closed:
		return nil, btl.ErrClosed
	case !ok:
		return nil, fmt.Errorf("sctp: rank %d: the path %q was not made by this module", peer.Rank, path.Desc)
	case peer.Rank < 0 || peer.Rank >= m.host.Size() || peer.Rank == m.host.Rank():
		return nil, fmt.Errorf("sctp: rank %d: not another rank of this job, which has %d", peer.Rank, m.host.Size())
	case path.Index != 0:
		return nil, fmt.Errorf("sctp: rank %d: path %d, there is only 0", peer.Rank, path.Index)
	}
	s := m.slot(peer.Rank)
	if s.ep != nil && s.ep.state != stateFailed {
		return nil, fmt.Errorf("sctp: rank %d has an endpoint already: %s", peer.Rank, s.ep.Desc())
	}
	ep := newEndpoint(m, s, peer.Host)
	ep.route, ep.recv = r, recv
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
		m.greeting = greeting{maxFrame: m.cfg.maxFrame, streams: m.cfg.streams,
			host: m.host.Hostname(), hello: m.host.Hello()}.encode()
	}
	return m.greeting
}

// Close implements [btl.Module]. It waits a little, in the end, for the peers to
// have our last bytes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
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
	return m.stack.Close()
}

// warn logs what the stack has to say of itself, or of a stranger.
func (m *module) warn(from netip.AddrPort, err error) {
	if !from.IsValid() {
		m.host.Logf(btl.LogWarn, "sctp: rank %d: %v", m.host.Rank(), err)
		return
	}
	m.stray(btl.LogWarn, from.String(), err)
}

// stray logs an association that has come to nothing. Anybody can make them, so
// warnings are limited.
func (m *module) stray(level btl.LogLevel, from string, err error) {
	who := "an association"
	if from != "" {
		who += " from " + from
	}
	if level != btl.LogWarn {
		m.host.Logf(level, "sctp: rank %d: dropped %s: %v", m.host.Rank(), who, err)
		return
	}
	dropped, ok := m.strays.Allow(m.loop.Now())
	if !ok {
		return
	}
	others := ""
	if dropped > 0 {
		others = fmt.Sprintf(" (and %d others since the last such line)", dropped)
	}
	m.host.Logf(level, "sctp: rank %d: dropped %s: %v%s", m.host.Rank(), who, err, others)
}
