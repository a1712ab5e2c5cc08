package tcp

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// An endpoint is one connection to one peer, from its first thought to its end.
type endpoint struct {
	m     *module
	slot  *slot
	recv  btl.Receiver
	host  string // the peer's
	pair  pair   // as chosen here; not known if the peer has connected
	state state
	gone  bool // closed by the host: no up-calls any more

	dial   *dial // while we connect
	opened bool  // by us, not by the peer
	epoch  uint32
	local  string // addresses of the connection, for people
	remote string
	speed  int // of our interface, Mbit/s, if the peer has connected; 0 unknown

	nearby   bool // the peer is on this machine
	conn     rawio.Conn
	watch    btl.Watch
	sender   sender
	receiver receiver
	failure  error // found by Send and still to be reported
	counters btl.Counters
}

var (
	_ btl.Pather             = (*endpoint)(nil)
	_ btl.Watched            = (*endpoint)(nil)
	_ btl.CongestionReporter = (*endpoint)(nil)
)

func newEndpoint(m *module, s *slot, host string) *endpoint {
	return &endpoint{m: m, slot: s, host: host}
}

// accepted takes the addresses of a connection that the peer has made, in the
// place of an attempt of ours.
func (ep *endpoint) accepted(in *inbound) {
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	local := rawio.LocalAddr(in.conn.FD())
	ep.opened, ep.local, ep.remote = false, local.String(), in.from.String()
	ep.nearby = ep.m.nearby(in.from.Addr())
	for _, a := range ep.m.side.Addresses {
		if local.Addr().WithZone("") == a.Addr() {
			ep.local, ep.speed = fmt.Sprintf("%v (%s)", local, a.Interface), a.Speed
		}
	}
}

// Path implements [btl.Pather]. Of a connection that the peer has made our own end's
// speed is known.
func (ep *endpoint) Path() btl.Path {
	m := ep.m
	if ep.local == "" || ep.opened {
		return m.path(ep.pair, ep.slot.key.path)
	}
	path := btl.Path{Index: ep.slot.key.path, Bundle: m.bundle(ep.slot.key.path), Bandwidth: ep.speed, Latency: m.attr.Latency, Desc: ep.Desc()}
	if isSpare(path.Index) {
		path.Spare = btl.Detour
	}
	if path.Bandwidth == 0 {
		path.Bandwidth = m.attr.Bandwidth
	}
	if ep.nearby {
		path.Latency = loopbackLatency
	}
	// Who connects makes as many links for a pair of interfaces as we would.
	path.Bandwidth = max(path.Bandwidth/m.cfg.links, 1)
	return path
}

// connect makes the endpoint CONNECTED. First is what is still to be sent of the
// handshake.
func (ep *endpoint) connect(conn rawio.Conn, first []byte, epoch uint32, peer greeting) {
	m := ep.m
	ep.dial = nil
	ep.epoch = epoch
	ep.slot.known = epoch
	ep.conn = conn
	ep.host = peer.host
	if ep.opened {
		ep.local, ep.remote = ep.pair.Local.String(), ep.pair.target().String()
		ep.nearby = m.nearby(ep.pair.target().Addr())
	}
	ep.enter(stateConnected, btl.LogInfo, ep.Desc(), epoch, "")
	ep.sender.init(first, &m.buffers)
	ep.receiver.init(peer.maxFrame, &m.buffers)
	var err error
	if ep.watch, err = m.loop.Watch(conn.FD(), (*events)(ep)); err != nil {
		ep.down(ep.connError("connected", err))
		return
	}
	if len(first) > 0 {
		ep.push()
	}
	ep.recv.Up(peer.hello)
	if ep.live() && ep.sender.refused {
		ep.sender.refused = false
		ep.recv.Writable()
	}
}

// live: the connection is up and the host has not closed it.
func (ep *endpoint) live() bool { return ep.state == stateConnected }

// events is the endpoint as the loop sees it.
type events endpoint

// Poll implements [btl.Handler].
func (h *events) Poll(writable bool) bool {
	ep := (*endpoint)(h)
	did := false
	if writable && ep.sender.blocked {
		did = ep.resume()
	}
	return ep.receive() || did
}

// Poll implements [btl.Poller].
func (ep *endpoint) Poll() bool {
	did := false
	if ep.sender.blocked {
		did = ep.resume()
	}
	return ep.receive() || did
}

// Watch implements [btl.Watched].
func (ep *endpoint) Watch() btl.Watch { return ep.watch }

// Counters implements [btl.Counter].
func (ep *endpoint) Counters() btl.Counters { return ep.counters }

// Desc implements [btl.Endpoint].
func (ep *endpoint) Desc() string {
	if ep.local == "" {
		return ep.pair.String()
	}
	if ep.opened || ep.dial != nil {
		return ep.local + " → " + ep.remote
	}
	return ep.local + " ← " + ep.remote
}

// broken takes note of a failure that Send has found; the loop reports it.
func (ep *endpoint) broken(err error) {
	if ep.failure != nil || !ep.live() {
		return
	}
	ep.failure = err
	ep.m.loop.Post(ep.reportFailure)
}

// reportFailure first reads what the peer has sent before it went: its goodbye
// may be there.
func (ep *endpoint) reportFailure() {
	for ep.live() && ep.receive() {
	}
	if ep.live() {
		ep.down(ep.connError("sending", ep.failure))
	}
}

// down ends the endpoint and tells the host.
func (ep *endpoint) down(err error) {
	if ep.gone || ep.state == stateFailed {
		return
	}
	inOrder := errors.Is(err, btl.ErrPeerClosed)
	if !inOrder {
		ep.m.doubt()
	}
	ep.tellEnd(err)
	wasUp := ep.state == stateConnected
	ep.state = stateFailed
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	if wasUp {
		if ep.watch != nil {
			ep.watch.Stop()
			ep.watch = nil
		}
		rawio.Close(ep.conn.FD())
	}
	ep.sender.discard()
	ep.receiver.rest()
	if l := ep.receiver.landing; l != nil {
		ep.receiver.landing = nil
		ep.recv.Drop(l)
	}
	if ep.gone {
		return
	}
	if inOrder {
		err = btl.ErrPeerClosed
	}
	ep.recv.Down(err)
}

// Close implements [btl.Endpoint].
func (ep *endpoint) Close() error {
	if ep.gone {
		return nil
	}
	ep.gone = true
	was := ep.state
	ep.tellClosed()
	ep.state = stateFailed
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	if was == stateConnected {
		ep.watch.Stop()
		ep.watch = nil
		ep.m.leave(ep.conn, ep.sender.remainder())
	}
	ep.sender.discard()
	ep.receiver.rest()
	ep.receiver.landing = nil
	if s := ep.slot; s.ep == ep {
		s.ep = nil
		if s.reserve != nil && !ep.m.closed {
			// The peer's own connection has been waiting for ours.
			ep.m.loop.Post(func() {
				if s.ep == nil {
					s.useReserve()
				}
			})
		}
	}
	return nil
}

// connError describes a failure of this endpoint.
func (ep *endpoint) connError(phase string, err error) *btl.ConnError {
	e := &btl.ConnError{
		Transport: "tcp",
		Rank:      ep.m.host.Rank(),
		Peer:      ep.slot.key.rank,
		PeerHost:  ep.host,
		Local:     ep.local,
		Remote:    ep.remote,
		Phase:     phase,
		Err:       err,
		Remedy:    remedy(err, ep),
		Final:     hopeless(err),
	}
	if ep.local == "" && ep.pair.port != 0 {
		e.Local, e.Remote = ep.pair.Local.String(), ep.pair.target().String()
	}
	if ep.state == stateConnected {
		e.InFlight = ep.Outstanding()
	}
	return e
}

// Outstanding implements [btl.Gauge].
func (ep *endpoint) Outstanding() int {
	if ep.state != stateConnected {
		return -1
	}
	n := rawio.Unacknowledged(ep.conn.FD())
	if n < 0 {
		return -1
	}
	return n + ep.sender.queued()
}
