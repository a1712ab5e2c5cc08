package udp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// module is UDP over all selected interfaces of a process.
type module struct {
	wireup.Base
	cfg       config
	meddle    func([]byte, func([]byte))
	sockets   []*socket
	links     map[uint64]*link // by our numbers
	peers     map[uint64]*link // those of endpoints, by the peers' numbers
	strangers map[stranger]*link
	loop      btl.Loop
	clock     *datagram.Clock // one timer for all connections: most wait for nothing
	beat      btl.Timer
	out       []byte      // for packets that are not the flow's
	scratch   []byte      // for what stands at the beginning of packets, or whole ones
	touched   []*endpoint // that may have something to acknowledge
	lingered  int
	closed    bool
}

var _ wireup.Transport = (*module)(nil)

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint {
	ep := &endpoint{m: m}
	ep.alarm = datagram.NewAlarm(ep.tick)
	return ep
}

// socketFor finds the socket to send from.
func (m *module) socketFor(p wireup.Pair) (*socket, error) {
	from := wireup.Zoned(p.Local)
	for _, so := range m.sockets {
		if so.Local.Addr() == from {
			return so, nil
		}
	}
	return nil, fmt.Errorf("no UDP socket at %v: %w", from, syscall.EADDRNOTAVAIL)
}

// take takes a packet that was received at a time.
func (m *module) take(so *socket, from *rawio.Origin, now int64, b []byte) {
	if len(b) < nameSize {
		m.malformed(from.AddrPort())
		return
	}
	kind, ours := b[0], order.Uint64(b[1:])
	if so.Crowded() && m.links[ours] == nil && !so.Spares() {
		return
	}
	if ours == 0 && kind == kindHello {
		m.came(so, from.AddrPort(), b)
		return
	}
	l := m.links[ours]
	if l != nil && l.severed {
		return
	}
	switch kind {
	case kindHello:
		theirs, _, message, ok := readHello(b)
		switch {
		case !ok:
		case l == nil: // we have dropped it, and that word was lost
			m.stray(so, from, theirs, len(b))
		default:
			l.hears(theirs, message)
		}
	case kindCookie:
		if l != nil {
			l.shown(b[nameSize:])
		}
	case kindData, kindAnswer:
		switch {
		case l == nil:
			m.stray(so, from, ours, len(b))
		case len(b) < headSize:
		case l.user() != nil:
			at := l.remote // as nearly always: to make the address anew takes memory where it has a zone
			if so != l.so || !from.Is(&l.to) {
				at = from.AddrPort()
			}
			l.user().take(now, so, at, b)
		}
	case kindUnknown:
		m.unknownTo(l, ours, b)
	default:
		m.malformed(from.AddrPort())
	}
}

// stray answers a packet for a connection that there is not, by the number that its sender knows. The answer is no longer than
// the question.
func (m *module) stray(so *socket, from *rawio.Origin, named uint64, question int) {
	if question < unknownSize {
		return
	}
	to := rawio.NewDestination(from.AddrPort())
	m.unknown(so, named, &to)
}

var errForm = errors.New("no packet of this protocol")

func (m *module) malformed(from netip.AddrPort) {
	m.Wire.Stray(btl.LogDebug, from.String(), errForm)
}

// undelivered is told that the network has not delivered a packet of ours. The answer quotes the packet, so
// whoever sent it has seen it.
func (m *module) undelivered(f rawio.Failure) {
	if len(f.Sent) < nameSize || f.Code == syscall.EMSGSIZE {
		return
	}
	theirs := order.Uint64(f.Sent[1:])
	if f.Sent[0] == kindHello && len(f.Sent) >= helloSize {
		if l := m.links[order.Uint64(f.Sent[nameSize:])]; l != nil && l.ep == nil {
			l.ended(f.Code)
		}
		return
	}
	if l := m.peers[theirs]; l != nil && alike(f.To, l.remote) && errors.Is(f.Code, syscall.ECONNREFUSED) {
		l.ended(f.Code)
	}
}

// beats has peers that are silent asked whether they are there, and gives memory back that they do not need.
func (m *module) beats() {
	if m.cfg.heartbeat == 0 {
		return
	}
	every := max(m.cfg.heartbeat/4, time.Millisecond)
	m.beat = m.loop.After(every, m.beats)
	now := m.loop.Now()
	for _, l := range m.peers {
		ep := l.ep
		if ep == nil || !ep.sender.live() || ep.sender.path.UnderWay() != 0 {
			continue
		}
		if now-ep.heard >= int64(every) {
			ep.rest(now)
		}
		if now-ep.heard >= int64(m.cfg.heartbeat) {
			ep.sender.probes = 1
			ep.push()
		}
	}
}

// Linger implements [wireup.Transport]. The loop stands still meanwhile, and its timers with it, so those that
// leave ask again and again whether what they have sent has arrived.
func (m *module) Linger() {
	var all []*datagram.Socket
	for _, so := range m.sockets {
		all = append(all, so.Socket)
	}
	datagram.Wait(1, all...)
	for _, so := range all {
		so.Receive()
	}
	if m.lingered++; m.lingered%askEvery != 0 {
		return
	}
	for _, l := range m.Wire.Leaving() {
		if l, ours := l.(*leaver); ours && l.ep.sender.live() {
			l.ep.sender.probes = 1
			l.ep.push()
		}
	}
}

// askEvery is every how many milliseconds.
const askEvery = 8

// Close implements [btl.Module]. In the end it waits a little until the peers have our last bytes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.Wire.Farewell = farewell
	m.Wire.Close()
	m.closed = true
	m.clock.Stop()
	if m.beat != nil {
		m.beat.Stop()
	}
	for _, so := range m.sockets {
		so.Close()
	}
	return nil
}
