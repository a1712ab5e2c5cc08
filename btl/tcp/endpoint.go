package tcp

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is one connection to one peer, from its first thought to its end.
type endpoint struct {
	wireup.Conn
	m *module

	local  string // addresses of the connection, for people
	remote string
	host   netip.Addr // the peer's
	speed  int        // of our interface, Mbit/s, if the peer has connected; 0 unknown
	nearby bool       // the peer is on this machine

	conn     rawio.Conn
	sealed   *sealed // what is between conn and the frames; nil: nothing
	watch    btl.Watch
	sender   sender
	scanner  framing.Scanner
	reading  reading
	lookout  lookout
	failure  error // found by Send and still to be reported
	counters btl.Counters
}

var (
	_ wireup.Endpoint = (*endpoint)(nil)
	_ btl.Aborter     = (*endpoint)(nil)
	_ btl.Pather      = (*endpoint)(nil)
	_ btl.Watched     = (*endpoint)(nil)
	_ btl.Speedometer = (*endpoint)(nil)
	_ btl.Reporter    = (*endpoint)(nil)
	_ btl.Reporter    = (*module)(nil)
)

// Prepare implements [wireup.Endpoint].
func (ep *endpoint) Prepare(l wireup.Link) {
	t := l.(*talk)
	if t.dialed {
		ep.local, ep.remote = t.pair.Addresses()
		ep.host = t.Target().Addr()
		ep.nearby = ep.m.Local.Nearby(ep.host)
		return
	}
	local := rawio.LocalAddr(t.conn.FD())
	ep.local, ep.remote = local.String(), t.from.String()
	ep.host = t.from.Addr()
	ep.nearby = ep.m.Local.Nearby(ep.host)
	if a, ok := ep.m.Local.Find(local.Addr()); ok {
		ep.local, ep.speed = fmt.Sprintf("%v (%s)", local, a.Interface), a.Speed
	}
}

// Addresses implements [wireup.Endpoint].
func (ep *endpoint) Addresses() (local, remote string) { return ep.local, ep.remote }

// Path implements [btl.Pather]. Where the peer has connected, only the speed of our own
// interface is known.
func (ep *endpoint) Path() btl.Path {
	if ep.Accepted() {
		return ep.m.Accepted(&ep.Conn, ep.speed, ep.nearby)
	}
	return ep.m.Path(ep.Way().(wireup.Pair), ep.PathIndex())
}

// Start implements [wireup.Endpoint].
func (ep *endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) (err error) {
	m := ep.m
	ep.conn = l.(*talk).release()
	ep.lookout.start(m.loop.Now())
	if ep.sealed, err = ep.seal(first); err != nil {
		return err
	}
	if ep.sealed != nil {
		ep.sender.init(nil, &m.buffers)
	} else {
		ep.sender.init(first, &m.buffers)
	}
	if ep.sender.gatherLimit = gatherLimit; ep.nearby && ep.sealed == nil {
		ep.sender.fills, ep.sender.gatherLimit = true, gatherNear
	}
	ep.scanner.Start(ep.Recv, peer.MaxFrame, (*ahead)(&m.buffers))
	if ep.watch, err = m.loop.Watch(ep.conn.FD(), (*events)(ep)); err != nil {
		return err
	}
	if len(first) > 0 {
		ep.push()
	}
	return nil
}

// Detach implements [wireup.Endpoint].
func (ep *endpoint) Detach(how wireup.End) {
	ep.settleReading()
	ep.settleSending()
	ep.lookout.stop()
	if how != wireup.Leaves {
		ep.giveUp()
	}
	if ep.watch != nil {
		ep.watch.Stop()
		ep.watch = nil
	}
	switch how {
	case wireup.Lost:
		rawio.Close(ep.conn.FD())
	case wireup.Leaves:
		ep.m.leave(ep.conn, ep.remainder())
	case wireup.Aborts:
		// A reset: both systems drop the bytes that they still hold.
		rawio.Reset(ep.conn.FD())
	}
	ep.sender.discard()
	ep.sealed.rest()
	ep.scanner.Stop(how == wireup.Lost)
}

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

// Report implements [btl.Reporter].
func (ep *endpoint) Report() btl.Report {
	report, c := ep.Conn.Report(), ep.counters
	c.FramesReceived = ep.scanner.Frames()
	report.Counters = &c
	if ep.Live() {
		if f, ok := rawio.FlowOf(ep.conn.FD()); ok {
			flow := btl.Congestion(f)
			report.Congestion = &flow
		}
	}
	return report
}

// broken takes note of a failure that Send has found; the loop reports it.
func (ep *endpoint) broken(err error) {
	if ep.failure != nil || !ep.Live() {
		return
	}
	ep.failure = err
	ep.m.loop.Post(ep.reportFailure)
}

// reportFailure first reads what the peer has sent before it went: its goodbye
// may be there. That is within what the system keeps. The peer may go on to send, if the system alone has had no way to send.
func (ep *endpoint) reportFailure() {
	ep.finishReading()
	for all := ep.counters.BytesReceived + ep.kept(); ep.Live() && ep.counters.BytesReceived < all && ep.receiveHere(math.MaxInt); {
	}
	if ep.Live() {
		ep.Down(ep.Error("sending", ep.failure))
	}
}

// kept is the most that the system keeps of what has arrived, in bytes.
func (ep *endpoint) kept() uint64 {
	if !ep.Live() {
		return 0
	}
	n, err := rawio.ReceiveBuffer(ep.conn.FD())
	if err != nil {
		return 0
	}
	return 2 * uint64(n) // half of it is meant for what else the system has of a packet
}

// Outstanding implements [btl.Gauge].
func (ep *endpoint) Outstanding() int {
	if !ep.Live() {
		return -1
	}
	n := rawio.Unacknowledged(ep.conn.FD())
	if n < 0 {
		return -1
	}
	return n + ep.Queued()
}

// Speed implements [btl.Speedometer]. Within this machine nothing is on the way but the processes themselves.
func (ep *endpoint) Speed() int64 {
	if !ep.Live() || ep.nearby {
		return 0
	}
	return rawio.SpeedOf(ep.conn.FD())
}

// InFlight implements [wireup.Endpoint].
func (ep *endpoint) InFlight() int { return ep.Outstanding() }
