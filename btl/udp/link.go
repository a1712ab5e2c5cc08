package udp

import (
	"crypto/rand"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// A link is one connection, or an attempt at one, and its present owner: a handshake (pending), an endpoint,
// or one that leaves.
type link struct {
	m       *module
	so      *socket
	remote  netip.AddrPort
	to      rawio.Destination
	ours    uint64 // the connection's number here,
	theirs  uint64 // and there; 0: not known yet
	pair    wireup.Pair
	dialed  bool
	cookie  []byte
	pending *wireup.Pending
	ep      *endpoint
	leaving *leaver
	moved   move
	over    bool
	severed bool // for tests: nothing gets through
}

// send sends one packet that is not the flow's. It reports whether the system had room for it.
func (l *link) send(b []byte) (room bool) { return l.severed || l.so.send(b, &l.to) != syscall.EAGAIN }

var _ wireup.Link = (*link)(nil)

// Dial implements [wireup.Transport]. UDP has no connections: what there is to wait for is the peer's answer
// to the handshake.
func (m *module) Dial(p *wireup.Pending, way wireup.Way) (wireup.Link, error) {
	pair := way.(wireup.Pair)
	so, err := m.socketFor(pair)
	if err != nil {
		return nil, err
	}
	l := m.newLink(so, pair.Target())
	l.dialed, l.pair, l.pending = true, pair, p
	m.Host.Loop().Post(func() {
		if !l.over {
			p.Up()
		}
	})
	return l, nil
}

func (m *module) newLink(so *socket, remote netip.AddrPort) *link {
	l := &link{m: m, so: so, remote: remote, to: rawio.NewDestination(remote)}
	var b [8]byte
	for l.ours == 0 || m.links[l.ours] != nil {
		rand.Read(b[:]) // it never fails (crypto/rand)
		l.ours = order.Uint64(b[:])
	}
	m.links[l.ours] = l
	return l
}

// came takes in the first message of a stranger, once it has shown that it receives where it says it is.
func (m *module) came(so *socket, from netip.AddrPort, b []byte) {
	theirs, cookie, message, ok := readHello(b)
	if !ok || theirs == 0 {
		m.malformed(from)
		return
	}
	key := stranger{from, theirs}
	if l := m.strangers[key]; l != nil {
		l.hears(theirs, message)
		return
	}
	answer, good := m.Wire.Cookie(from, b[nameSize:nameSize+8], cookie, len(b)-nameSize)
	if !good {
		if answer != nil {
			to := rawio.NewDestination(from)
			m.out = append(appendName(m.out[:0], kindCookie, theirs), answer...)
			_ = so.Send(m.out, &to)
		}
		return
	}
	l := m.newLink(so, from)
	l.theirs = theirs
	m.strangers[key] = l
	l.pending = m.Wire.Came(l, from)
	if !l.over {
		l.pending.Bytes(message)
	}
}

// A stranger is somebody's first message, by its address and the number that it has chosen.
type stranger struct {
	from   netip.AddrPort
	theirs uint64
}

// hears takes a message of the handshake. While we connect, the first one says what the peer calls the
// connection, and the later ones have to agree: the number is not part of what the handshake proves. One
// that differs counts from its repetition on.
func (l *link) hears(theirs uint64, message []byte) {
	if l.connecting() && theirs != l.theirs {
		first := l.theirs == 0
		l.theirs = theirs
		if !first {
			return
		}
	}
	if theirs == l.theirs && !l.over {
		l.pending.Bytes(message)
	}
}

// shown takes the cookie that the peer asks for.
func (l *link) shown(cookie []byte) {
	if l.dialed && l.ep == nil && len(cookie) == wireup.CookieSize {
		l.cookie = append(l.cookie[:0], cookie...)
		l.pending.Again()
	}
}

// Send implements [wireup.Link]. A message that finds no room is as if lost. One that a path may not carry in one piece the network may cut:
// how long packets may be is not known yet. Once the peer has answered there is a way to it, and an error passes.
func (l *link) Send(message []byte) error {
	if l.severed {
		return nil
	}
	send := l.so.send
	if l.m.out = appendHello(l.m.out[:0], l.theirs, l.ours, l.cookie, message); len(l.m.out) > leastPacket {
		send = l.so.SendCut
	}
	if errno := send(l.m.out, &l.to); l.theirs == 0 && datagram.NoWay(errno) {
		return errno
	}
	return nil
}

// Abort implements [wireup.Link]. The peer is told: by its own number if it may not know ours.
func (l *link) Abort() {
	switch {
	case l.over || l.theirs == 0 || l.severed:
	case l.dialed || l.m.peers[l.theirs] == l:
		l.m.unknown(l.so, l.ours, &l.to)
	default:
		l.m.unknown(l.so, l.theirs, &l.to)
	}
	l.forget()
}

// forget ends the connection here.
func (l *link) forget() {
	if l.over {
		return
	}
	l.over = true
	delete(l.m.links, l.ours)
	if l.m.peers[l.theirs] == l {
		delete(l.m.peers, l.theirs)
	}
	if !l.dialed {
		delete(l.m.strangers, stranger{l.remote, l.theirs})
	}
}

// Leave implements [wireup.Link]: no endpoint ever had it.
func (l *link) Leave(b []byte) {
	if len(b) > 0 {
		_ = l.Send(b)
	}
	l.forget()
}

// Addresses implements [wireup.Link].
func (l *link) Addresses() (local, remote string) {
	if l.dialed {
		return l.pair.Addresses()
	}
	return l.so.at.String(), l.remote.String()
}

// Target implements [wireup.Link].
func (l *link) Target() netip.AddrPort { return l.pair.Target() }

// user is the endpoint that the connection is, or was, of.
func (l *link) user() *endpoint {
	if l.leaving != nil {
		return l.leaving.ep
	}
	return l.ep
}

// connecting reports whether this side has begun, and does not know the peer yet.
func (l *link) connecting() bool { return l.dialed && l.ep == nil && l.leaving == nil }

// ended: the peer, or its system, says that there is no such connection.
func (l *link) ended(err error) {
	switch {
	case l.over:
	case l.ep != nil:
		l.ep.Down(l.ep.Error("connected", err))
	case l.leaving != nil:
		l.m.Wire.Left(l.leaving)
	default:
		l.pending.Ended(err)
	}
}
