package sctp

import (
	"errors"
	"io"

	"github.com/strandmp/strand/btl"
)

// state of an endpoint.
type state uint8

const (
	stateClosed     state = iota // not sent to yet, or the association was idle too long
	stateConnecting              // an association or its handshake is under way, or a pause between two
	stateConnected
	stateFailed
)

// An endpoint is one association with one peer, from its first thought to its
// end.
type endpoint struct {
	m     *module
	slot  *slot
	recv  btl.Receiver
	host  string // the peer's
	route *route // as chosen here; nil if the peer has connected
	state state
	gone  bool // closed by the host: no up-calls any more

	dial   *dial // while we connect
	opened bool  // by us, not by the peer
	epoch  uint32

	link     *link
	met      bool // Up was called
	waits    bool // the peer does not know yet that it was let in
	sender   sender
	receiver receiver
	counters btl.Counters
}

var (
	_ btl.Poller       = (*endpoint)(nil)
	_ btl.Aborter      = (*endpoint)(nil)
	_ btl.Counter      = (*endpoint)(nil)
	_ btl.PathReporter = (*endpoint)(nil)

	_ btl.CongestionReporter = (*endpoint)(nil)
)

func newEndpoint(m *module, s *slot, host string) *endpoint {
	return &endpoint{m: m, slot: s, host: host}
}

// connect makes the endpoint connected.
func (ep *endpoint) connect(l *link, epoch uint32, peer greeting) {
	m := ep.m
	ep.dial = nil
	ep.epoch = epoch
	ep.slot.known = epoch
	ep.host = peer.host
	ep.link = l
	l.owner = (*connection)(ep)
	l.Trust()
	ep.state = stateConnected
	ep.sender.init(m.cfg.streams, peer.streams, l.Streams()-1, m.bearable(l.Window()))
	ep.receiver.init(peer.maxFrame, l.Streams())
	m.host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: connected, %s", m.host.Rank(), ep.slot.rank, ep.Desc())
	if n := ep.sender.streams; n < m.cfg.streams {
		m.host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: %d streams instead of the %d asked for, since the peer has no more, or no room for a half-arrived frame on each; lanes share them",
			m.host.Rank(), ep.slot.rank, n, m.cfg.streams)
	}
	if !ep.met {
		ep.met = true
		ep.recv.Up(peer.hello)
	}
	ep.offer()
}

// offer tells the host that it can send, if it wants to and can.
func (ep *endpoint) offer() {
	if ep.live() && ep.sender.refused && !ep.waits {
		ep.sender.refused = false
		ep.recv.Writable()
	}
}

// live: the connection is up and the host has not closed it.
func (ep *endpoint) live() bool { return ep.state == stateConnected }

// connection is the endpoint as its link's owner.
type connection endpoint

func (c *connection) up()       {}
func (c *connection) writable() { (*endpoint)(c).offer() }
func (c *connection) receive(stream uint16, ppid uint32, piece []byte, end bool) {
	(*endpoint)(c).receive(stream, ppid, piece, end)
}

func (c *connection) pathChanged(p btl.PathState) {
	m, how := c.m, "down"
	if p.Up {
		how = "up"
		c.counters.PathsUp++
	} else {
		c.counters.PathsDown++
	}
	m.host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: path %s is %s", m.host.Rank(), c.slot.rank, p.Desc, how)
}

// down: the association has ended. In order and without a goodbye means, if there
// is btl_sctp_autoclose, that it was idle too long: it comes back with the next frame.
// One that the peer has made, to whom this side knows no way, rests until the peer
// comes back or the host wants to send: then the host is told, and makes a new one.
// Otherwise the peer has died; its kernel shuts down what it leaves.
func (c *connection) down(err error) {
	ep := (*endpoint)(c)
	if errors.Is(err, io.EOF) && ep.m.cfg.tuning.Autoclose > 0 {
		ep.m.host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: the association was idle and is closed", ep.m.host.Rank(), ep.slot.rank)
		ep.state, ep.link = stateClosed, nil
		ep.receiver.drop(ep.recv)
		if ep.sender.refused {
			ep.sender.refused = false
			ep.recv.Writable()
		}
		return
	}
	if errors.Is(err, io.EOF) {
		err = errNoGoodbye
	}
	ep.fail(ep.connError("connected", err))
}

var errNoGoodbye = errors.New("the peer has shut the association down without a goodbye")

// Poll implements [btl.Poller].
func (ep *endpoint) Poll() bool { return ep.state == stateConnected && ep.link.Poll() }

// Counters implements [btl.Counter].
func (ep *endpoint) Counters() btl.Counters {
	c := ep.counters
	if ep.link != nil {
		c.SendCalls, c.ReceiveCalls = ep.link.Calls()
	}
	return c
}

// Paths implements [btl.PathReporter].
func (ep *endpoint) Paths() []btl.PathState {
	if ep.state != stateConnected {
		return nil
	}
	return ep.link.Paths()
}

// Congestion implements [btl.CongestionReporter].
func (ep *endpoint) Congestion() (btl.Congestion, bool) {
	if ep.state != stateConnected {
		return btl.Congestion{}, false
	}
	return ep.link.Congestion()
}

// Desc implements [btl.Endpoint].
func (ep *endpoint) Desc() string {
	switch {
	case ep.link == nil && ep.route == nil:
		return "closed, it was idle; the peer had made it"
	case ep.link == nil:
		return ep.route.String()
	}
	local, remote := ep.link.Addresses()
	if ep.opened {
		return local + " → " + remote
	}
	return local + " ← " + remote
}

// fail ends the endpoint and tells the host.
func (ep *endpoint) fail(err error) {
	if ep.gone || ep.state == stateFailed {
		return
	}
	ep.logEnd(err)
	wasUp := ep.state == stateConnected
	ep.state = stateFailed
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	if wasUp {
		ep.link.Abort()
	}
	ep.receiver.drop(ep.recv)
	if !ep.gone {
		ep.recv.Down(err)
	}
}

// logEnd tells of the connection's end. An error of the connection names both
// ranks itself.
func (ep *endpoint) logEnd(err error) {
	if errors.Is(err, btl.ErrPeerClosed) {
		ep.m.host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: the peer has closed the connection in order", ep.m.host.Rank(), ep.slot.rank)
		return
	}
	ep.m.host.Logf(btl.LogInfo, "end of a connection: %v", err)
}

// Close implements [btl.Endpoint].
func (ep *endpoint) Close() error { return ep.end((*endpoint).depart) }

// Abort implements [btl.Aborter].
func (ep *endpoint) Abort() { _ = ep.end(func(ep *endpoint) { ep.link.Abort() }) }

// depart lets the association end in order.
func (ep *endpoint) depart() { ep.m.leave(ep.link, encodeGoodbye(ep.sender.frames)) }

func (ep *endpoint) end(association func(*endpoint)) error {
	if ep.gone {
		return nil
	}
	ep.gone = true
	was := ep.state
	ep.state = stateFailed
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	if was == stateConnected {
		association(ep)
	}
	ep.receiver = receiver{}
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
