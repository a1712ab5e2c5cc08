package sctp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is one association with one peer, from its first thought to its
// end.
type endpoint struct {
	wireup.Conn
	m *module

	link     *link
	waits    bool // the peer does not know yet that it was let in
	sender   sender
	receiver receiver
	counters btl.Counters
}

var (
	_ wireup.Endpoint = (*endpoint)(nil)
	_ btl.Watched     = (*endpoint)(nil)
	_ btl.Aborter     = (*endpoint)(nil)
	_ btl.Reporter    = (*endpoint)(nil)
	_ btl.Speedometer = (*endpoint)(nil)
	_ btl.Flusher     = (*endpoint)(nil)
)

// Start implements [wireup.Endpoint]. The connector says that it has the verdict, and the acceptor
// waits for that before it sends: its frames could otherwise overtake the verdict.
func (ep *endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) error {
	m, link := ep.m, l.(*link)
	ep.link = link
	link.ep, link.control = ep, control{}
	link.assoc.Trust()
	ep.sender.init(m.cfg.streams, streamsOf(peer), link.assoc.Streams()-1, m.bearable(link.assoc.Window()))
	ep.receiver.init(peer.MaxFrame, link.assoc.Streams())
	if n := ep.sender.streams; n < m.cfg.streams {
		m.Host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: %d streams instead of the %d asked for, since the peer has no more, or no room for a half-arrived frame on each; lanes share them",
			m.Host.Rank(), ep.Rank(), n, m.cfg.streams)
	}
	if ep.waits = first != nil; ep.waits {
		return link.Send(first)
	}
	if link.assoc.Send(controlStream, ppidReady, []byte{0}, nil) == btl.Busy {
		return errNoRoom
	}
	return nil
}

// ownGreeting is what the transport adds to a greeting: streams for frames, as asked for,
// and a reserved byte.
func ownGreeting(streams int) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, uint16(streams)), 0)
}

func streamsOf(g wireup.Greeting) int { return int(binary.LittleEndian.Uint16(g.Own)) }

func checkGreeting(own []byte) error {
	switch {
	case binary.LittleEndian.Uint16(own) == 0:
		return errors.New("no stream for frames")
	case own[2] != 0:
		return errors.New("a reserved byte is set")
	}
	return nil
}

// Ready implements [wireup.Endpoint].
func (ep *endpoint) Ready() {
	if !ep.waits {
		ep.Conn.Ready()
	}
}

// offer tells the host that it can send, if it can and the host waits for that.
func (ep *endpoint) offer() {
	if ep.Live() {
		ep.Ready()
	}
}

// Detach implements [wireup.Endpoint].
func (ep *endpoint) Detach(how wireup.End) {
	if how == wireup.Leaves {
		ep.link.assoc.Keep() // the frames' memory is the host's again
		ep.m.leave(ep.link, encodeGoodbye(ep.sender.frames))
	} else {
		ep.link.Abort()
	}
	if how == wireup.Lost {
		ep.receiver.drop(ep.Recv)
	}
	ep.receiver = receiver{}
}

// InFlight implements [wireup.Endpoint].
func (ep *endpoint) InFlight() int { return ep.link.assoc.Queued() }

func (ep *endpoint) pathChanged(p btl.PathState) {
	m, how := ep.m, "down"
	if p.Up {
		how = "up"
		ep.counters.PathsUp++
	} else {
		ep.counters.PathsDown++
	}
	m.Host.Logf(btl.LogInfo, "sctp: rank %d ↔ rank %d: path %s is %s", m.Host.Rank(), ep.Rank(), p.Desc, how)
}

// ended: the association has ended. If it ended in order but without a goodbye, it was
// idle too long, if there is btl_sctp_autoclose: it comes back with the next frame. If the
// peer had made it, this side knows no way to the peer. Then the endpoint rests until the
// peer comes back or the host wants to send; the host is told then, and makes a new one.
// Without btl_sctp_autoclose the peer has died: its kernel shuts down what it left.
func (ep *endpoint) ended(err error) {
	if errors.Is(err, io.EOF) && ep.m.cfg.tuning.Autoclose > 0 {
		ep.Tell(btl.LogInfo, "closed", "the association was idle and is closed")
		ep.waits = false
		ep.receiver.drop(ep.Recv)
		ep.Rest()
		return
	}
	if errors.Is(err, io.EOF) {
		err = errNoGoodbye
	}
	ep.Down(ep.Error("connected", err))
}

var errNoGoodbye = fmt.Errorf("the peer has shut the association down %w", wireup.ErrNoGoodbye)

// Poll implements [btl.Poller].
func (ep *endpoint) Poll() bool { return ep.Live() && ep.link.assoc.Poll() }

// Watch implements [btl.Watched].
func (ep *endpoint) Watch() btl.Watch {
	if !ep.Live() {
		return nil
	}
	return ep.link.assoc.Watch()
}

// Flush implements [btl.Flusher].
func (ep *endpoint) Flush() {
	if ep.Live() {
		ep.link.assoc.Flush()
	}
}

// Queued implements [btl.Flusher].
func (ep *endpoint) Queued() int {
	if !ep.Live() {
		return 0
	}
	return ep.link.assoc.Unsent()
}

// Speed implements [btl.Speedometer]. Within this machine nothing is on the way but the processes themselves.
func (ep *endpoint) Speed() int64 {
	if !ep.Live() || ep.m.Local.Nearby(ep.link.assoc.Remote().Addr()) {
		return 0
	}
	flow, _ := ep.link.assoc.Congestion()
	return flow.Speed()
}

// Report implements [btl.Reporter].
func (ep *endpoint) Report() btl.Report {
	report, c := ep.Conn.Report(), ep.counters
	if ep.link != nil {
		c.SendCalls, c.ReceiveCalls = ep.link.assoc.Calls()
	}
	report.Counters = &c
	if ep.Live() {
		report.Paths = ep.link.assoc.Paths()
		if flow, told := ep.link.assoc.Congestion(); told {
			report.Congestion = &flow
		}
	}
	return report
}
