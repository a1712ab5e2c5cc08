package wireup

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/strangers"
)

// MaxMessage is the longest message of a handshake in bytes: between 4 KB, which a hello may have, and 5 KB.
const MaxMessage = handshake.MaxMessage

// Config says how a [Manager] sets up the connections of one module.
type Config struct {
	// Name of the transport, "tcp", with which its lines and errors begin; Noun is what it
	// calls a connection, with the article. What is proved has the name in it, so that nobody joins
	// a connection of one transport to one of another.
	Name, Noun string
	// Prefix is that of the transport's parameters, "btl_tcp_", for remedies.
	Prefix string

	// Retries is how many attempts in a row may fail, at least 1.
	Retries int
	// ConnectTimeout is how long an attempt may take until [Pending.Up], HandshakeTimeout
	// how long the handshake may take, on either side.
	ConnectTimeout, HandshakeTimeout time.Duration
	// SelfTimed: the transport ends an attempt itself that takes longer than ConnectTimeout.
	SelfTimed bool
	// Grace is how long a peer's connection waits while our own attempt gets no answer. 0
	// is a quarter of a second.
	Grace time.Duration
	// Farewell is how long closing the module waits for peers' systems to confirm our last
	// bytes. Less than a quarter of a second counts as that; it is enough if our system goes on
	// to send them by itself. If it does not, lost bytes have to be sent again within that time,
	// so it has to be longer. It may be set until the call of [Manager.Close].
	Farewell time.Duration

	// Paths is how many there may be between two ranks; 0 means 1.
	Paths int
	// Strangers bounds the connections that have not proved themselves; 0 means 64.
	Strangers int
	// Pace is the least time, on average, between two strangers that take the places of
	// equals. It is for a transport in which taking in a stranger costs much, and leaving it
	// waiting costs nothing ([Manager.Room]).
	Pace time.Duration

	// MaxFrame is the largest payload that this side sends in one frame, and FrameLimit
	// what a peer may announce, in bytes. 0 means no limit but that of 32 bits.
	MaxFrame, FrameLimit int
	// Own are the transport's own bytes of the greeting; their number is the same on all
	// ranks. Check looks at those of a peer; nil means that they must be the same as ours.
	Own   []byte
	Check func(own []byte) error
	// Agrees looks at the whole greeting of a peer. It is for settings that the user has to
	// choose alike on both sides. The error names both processes, what each has, and the
	// remedy; a peer that has connected is refused with these words. Nil agrees with everybody.
	Agrees func(rank int, g Greeting) error

	// Merges: the transport makes one connection of two attempts that cross, so that either end
	// has called [Transport.Dial] for it. Such a transport carries messages, not a stream.
	Merges bool
	// Repeat is for a transport whose messages may be lost, repeated and overtaken: how long
	// after it was sent a message of the handshake without an answer is sent again. 0 means
	// that the transport loses nothing.
	Repeat time.Duration

	// Doubt is called when a connection, or an attempt, has failed: what was thought of
	// the ways to the peers may be wrong. It may be nil.
	Doubt func()
}

// A Manager sets up the connections of one module. It belongs to the loop.
type Manager struct {
	Config
	// Strays limits the lines about strangers.
	Strays Limiter

	host      btl.Host
	loop      btl.Loop
	transport Transport
	id        *handshake.Identity
	greeting  []byte
	crowd     *strangers.Crowd[*visitor]
	cookies   cookies
	asking    map[int]*asking // by rank
	slots     map[slotKey]*slot
	leaving   map[Leaver]btl.Timer
	closed    bool
}

// reserveGrace is how long a peer's connection waits while our attempt gets no answer at all. Since
// the peer's has come through, ours should have been answered by then.
const reserveGrace = 250 * time.Millisecond

// NewManager makes the manager of a module. The module need not be open yet.
func NewManager(host btl.Host, t Transport, c Config) *Manager {
	if c.Noun == "" {
		c.Noun = "a connection"
	}
	if c.Grace == 0 {
		c.Grace = reserveGrace
	}
	c.Paths, c.Retries = max(c.Paths, 1), max(c.Retries, 1)
	if c.Strangers == 0 {
		c.Strangers = 64
	}
	return &Manager{
		Config: c, host: host, loop: host.Loop(), transport: t,
		crowd:   strangers.New[*visitor](strangers.Rules{Most: c.Strangers, Pace: c.Pace, Chance: rand.IntN}),
		asking:  make(map[int]*asking),
		slots:   make(map[slotKey]*slot),
		leaving: make(map[Leaver]btl.Timer),
	}
}

// Connect implements [btl.Module] for the transport: it makes an endpoint, which connects
// when it is first sent to ([Conn.Connect]).
func (m *Manager) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	way, ok := path.Private.(Way)
	switch {
	case m.closed:
		return nil, btl.ErrClosed
	case !ok:
		return nil, fmt.Errorf("%s: rank %d: the Private of path %q is a %T and no wireup.Way: it is not from Reach of this module, or Reach leaves that out",
			m.Name, peer.Rank, path.Desc, path.Private)
	case peer.Rank < 0 || peer.Rank >= m.host.Size() || peer.Rank == m.host.Rank():
		return nil, fmt.Errorf("%s: rank %d: not another rank of this job, which has %d", m.Name, peer.Rank, m.host.Size())
	case path.Index < 0 || path.Index >= m.Paths:
		return nil, fmt.Errorf("%s: rank %d: %s", m.Name, peer.Rank, m.noPath(path.Index))
	}
	s := m.slot(peer.Rank, path.Index)
	if s.conn != nil && s.conn.state != Failed {
		return nil, fmt.Errorf("%s: rank %d has an endpoint for path %d already: %s", m.Name, peer.Rank, path.Index, s.conn.ep.Desc())
	}
	c := m.newConn(s, peer.Host)
	c.way, c.Recv = way, recv
	s.conn = c
	return c.ep, nil
}

func (m *Manager) noPath(index int) string {
	if m.Paths == 1 {
		return fmt.Sprintf("path %d, there is only 0", index)
	}
	return fmt.Sprintf("path %d, allowed are 0 to %d", index, m.Paths-1)
}

// newConn makes an endpoint for a slot.
func (m *Manager) newConn(s *slot, host string) *Conn {
	ep := m.transport.NewEndpoint()
	c := ep.connection()
	c.m, c.ep, c.slot, c.host = m, ep, s, host
	return c
}

// Came takes in a connection that somebody has made to us. The transport tells the Pending what
// becomes of it. Until the stranger says something it costs no more than its place on a list. If
// no place is free another stranger's connection is ended for it. From is where the connection
// comes from. The port is 0 in a transport in which each connection has a port of its own, as the
// port then says nothing about who connects.
func (m *Manager) Came(l Link, from netip.AddrPort) *Pending {
	p := &Pending{m: m, link: l}
	m.visit(p, from)
	return p
}

// Room reports whether a stranger may be taken in now. A transport in which it costs nothing
// to leave one waiting asks before [Manager.Came].
func (m *Manager) Room(from netip.AddrPort) bool {
	return !m.closed && m.crowd.Room(m.loop.Now(), from)
}

// Embryonic are the connections that others have made to us and that have not proved
// themselves.
func (m *Manager) Embryonic() []*Pending {
	var all []*Pending
	for _, p := range m.crowd.All() {
		all = append(all, p.Who.p)
	}
	return all
}

// Count is how many connections are embryonic.
func (m *Manager) Count() int { return m.crowd.Count() }

// Most is how many connections may be embryonic at once.
func (m *Manager) Most() int { return m.crowd.Most() }

// Close ends everything: embryonic connections without a word, the endpoints in order. It
// waits a little for the peers' systems to confirm the goodbyes ([Config.Farewell]).
func (m *Manager) Close() {
	m.closed = true
	for _, p := range m.crowd.All() {
		p.Who.drop()
	}
	for _, s := range m.slots {
		if s.reserve != nil {
			s.reserve.drop()
		}
		if s.conn != nil {
			_ = s.conn.ep.Close()
		}
	}
	m.finishLeaving()
}

// identity is made at the first handshake: the job's secret is not known while the module is
// opened.
func (m *Manager) identity() *handshake.Identity {
	if m.id == nil {
		m.id = handshake.NewIdentity(m.host.Job(), m.host.Secret(), m.host.Rank()).Over(m.Name)
	}
	return m.id
}
