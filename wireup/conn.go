package wireup

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
)

// A Conn is the state of one endpoint, from before it connects until its end. The transport's
// endpoint embeds it.
type Conn struct {
	// Recv takes the endpoint's up-calls. The Manager sets it and calls Up and Down.
	Recv btl.Receiver

	m     *Manager
	ep    Endpoint
	slot  *slot
	host  string // the peer's
	way   Way    // as chosen here; nil if the peer has connected
	state State
	gone  bool // closed by the host: no up-calls any more

	link     Link  // once it is prepared; nil if the endpoint has a Prepare of its own
	refused  bool  // Busy was returned and Writable is due
	dial     *dial // while we connect
	opened   bool  // by us, not by the peer
	prepared bool  // the endpoint knows the addresses of its connection
	met      bool  // Up was called
	epoch    uint32
	session  *handshake.Session // nil where there was no handshake
}

func (c *Conn) connection() *Conn { return c }

// At is the endpoint's state.
func (c *Conn) At() State { return c.state }

// Report implements [btl.Reporter]: the state, to which an endpoint adds what it knows.
func (c *Conn) Report() btl.Report { return btl.Report{State: c.state.String()} }

// Live reports whether the connection is up and the host has not closed it.
func (c *Conn) Live() bool { return c.state == Connected }

// Gone reports whether the host has closed the endpoint: no up-call may be made.
func (c *Conn) Gone() bool { return c.gone }

// Opened reports whether this side has made the connection.
func (c *Conn) Opened() bool { return c.opened }

// Accepted reports whether the peer has made the connection.
func (c *Conn) Accepted() bool { return c.prepared && !c.opened }

// Rank is the peer's.
func (c *Conn) Rank() int { return c.slot.key.rank }

// PathIndex is the number of the endpoint's path.
func (c *Conn) PathIndex() int { return c.slot.key.path }

// Epoch is that of the connection.
func (c *Conn) Epoch() uint32 { return c.epoch }

// Attempted is the highest epoch of any attempt of either side.
func (c *Conn) Attempted() uint32 { return c.slot.epoch }

// Tries is how many attempts have failed since the endpoint began to connect; 0 when it does not.
func (c *Conn) Tries() int {
	if c.dial == nil {
		return 0
	}
	return c.dial.failed.Count()
}

// Reserved reports whether the peer's own connection waits for our attempts to end.
func (c *Conn) Reserved() bool { return c.slot.reserve != nil }

// Way is how the peer is reached, nil if only the peer knows.
func (c *Conn) Way() Way { return c.way }

// Connect is for [btl.Endpoint.Send] of an endpoint that is not connected. The first call begins
// to connect. Each returns what Send is to return, and makes no up-call.
func (c *Conn) Connect() btl.Result {
	switch {
	case c.state == Closed && c.way == nil:
		c.m.loop.Post(func() {
			if c.state == Closed {
				c.Down(c.Error("connecting", ErrIdle))
			}
		})
		return btl.Broken
	case c.state == Closed:
		c.dial = &dial{c: c}
		c.dial.start()
		return c.Refuse()
	case c.state == Connecting, c.state == ConnectAck:
		return c.Refuse()
	}
	return btl.Broken
}

// Refuse notes that Send refuses a frame, and returns Busy for it. The transport then owes a call
// of Ready when there is room.
func (c *Conn) Refuse() btl.Result {
	c.refused = true
	return btl.Busy
}

// Refused reports whether Send has refused a frame since the last call of Ready.
func (c *Conn) Refused() bool { return c.refused }

// Ready implements [Endpoint].
func (c *Conn) Ready() {
	if c.refused {
		c.refused = false
		c.Recv.Writable()
	}
}

// Prepare implements [Endpoint], for one whose addresses are those of its link.
func (c *Conn) Prepare(l Link) { c.link = l }

// Link is what Prepare was called with, nil if Prepare is the endpoint's own.
func (c *Conn) Link() Link { return c.link }

// Addresses implements [Endpoint], if Prepare is not the endpoint's own.
func (c *Conn) Addresses() (local, remote string) { return c.link.Addresses() }

// InFlight implements [Endpoint] for one that does not know it.
func (c *Conn) InFlight() int { return -1 }

// ErrIdle is why an endpoint that rests can not be sent to.
var ErrIdle = errors.New("the connection was idle and is closed, and the peer had made it: a new one is needed")

// Establish makes the endpoint connected. The Manager does that when a handshake is done; a
// transport that has another way to know its peers may do so.
func (c *Conn) Establish(l Link, first []byte, epoch uint32, peer Greeting) {
	c.establish(l, first, epoch, peer, nil)
}

func (c *Conn) establish(l Link, first []byte, epoch uint32, peer Greeting, s *handshake.Session) {
	c.dial, c.session = nil, s
	c.epoch, c.slot.known = epoch, epoch
	c.host = peer.Host
	c.enter(Connected, btl.LogInfo, c.Desc(), epoch, "")
	if err := c.ep.Start(l, first, peer); err != nil {
		c.Down(c.Error("connected", err))
		return
	}
	if !c.met {
		c.met = true
		c.Recv.Up(peer.Hello)
	}
	if c.Live() {
		c.ep.Ready()
	}
}

// Key derives a key of 32 bytes from what the handshake of this connection has agreed on. The
// label names its use and begins with the transport's name. Both ends get the same key for the same
// label; nobody else can derive it, and no other connection has it. Key may be called from
// [Endpoint.Start] on. It is an error where the transport has called Establish, as there was no
// handshake then.
func (c *Conn) Key(label string) ([]byte, error) {
	if c.session == nil {
		return nil, c.Error("connected", errors.New("no handshake has agreed on a key"))
	}
	return c.session.Key(label), nil
}

// prepare has the endpoint note the addresses of its connection. If the peer has made the
// connection, our own attempt is given up.
func (c *Conn) prepare(l Link, opened bool) {
	if c.dial != nil && !opened {
		c.dial.cancel()
		c.dial = nil
	}
	c.opened, c.prepared = opened, true
	c.ep.Prepare(l)
}

// Rest notes that the transport has ended the connection, in order, since it was idle. The next
// frame connects again if this side knows a way; otherwise it takes the endpoint down ([ErrIdle]).
func (c *Conn) Rest() {
	c.state, c.prepared, c.opened = Closed, false, false
	c.ep.Ready()
}

// Down ends the endpoint and tells the host, unless that was done before: the connection
// has failed, or the peer has ended it ([btl.ErrPeerClosed]).
func (c *Conn) Down(err error) {
	if c.gone || c.state == Failed {
		return
	}
	inOrder := errors.Is(err, btl.ErrPeerClosed)
	if !inOrder && c.m.Doubt != nil {
		c.m.Doubt()
	}
	c.tellEnd(err)
	c.end(Lost)
	if c.gone {
		return
	}
	if inOrder {
		err = btl.ErrPeerClosed
	}
	c.Recv.Down(err)
}

// Close implements [btl.Endpoint].
func (c *Conn) Close() error {
	c.leave(Leaves)
	return nil
}

// Abort implements [btl.Aborter].
func (c *Conn) Abort() { c.leave(Aborts) }

func (c *Conn) leave(how End) {
	if c.gone {
		return
	}
	c.gone = true
	c.tellClosed(how)
	c.end(how)
	s, m := c.slot, c.m
	if s.conn != c {
		return
	}
	s.conn = nil
	if s.reserve != nil && !m.closed {
		// The peer's own connection has been waiting for ours.
		m.loop.Post(func() {
			if s.conn == nil {
				s.useReserve()
			}
		})
	}
}

// end lets go of all that there is.
func (c *Conn) end(how End) {
	up := c.state == Connected
	c.state = Failed
	if c.dial != nil {
		c.dial.cancel()
		c.dial = nil
	}
	if up {
		c.ep.Detach(how)
	}
}

// Desc implements [btl.Endpoint].
func (c *Conn) Desc() string {
	local, remote := c.addresses()
	if local == "" && remote == "" {
		return "closed, it was idle; the peer had made it"
	}
	return local + " " + c.arrow() + " " + remote
}

func (c *Conn) addresses() (local, remote string) {
	switch {
	case c.prepared:
		return c.ep.Addresses()
	case c.way != nil:
		return c.way.Addresses()
	}
	return "", ""
}

// Error describes a failure of this endpoint. Phase is what the endpoint was doing: "receiving".
func (c *Conn) Error(phase string, err error) *btl.ConnError {
	if refused, ok := errors.AsType[*handshake.RefusedError](err); ok && refused.Code == handshake.Gone {
		err = &unwelcomeError{refused}
	}
	e := &btl.ConnError{
		Transport: c.m.Name,
		Rank:      c.m.host.Rank(),
		Peer:      c.slot.key.rank,
		PeerHost:  c.host,
		Phase:     phase,
		Err:       err,
		Remedy:    c.remedy(err),
		Final:     final(err),
	}
	e.Local, e.Remote = c.addresses()
	if c.state == Connected {
		e.InFlight = c.ep.InFlight()
	}
	return e
}

// An unwelcomeError is a refusal of this process, in the peer's words.
type unwelcomeError struct{ *handshake.RefusedError }

func (e *unwelcomeError) Unwrap() []error { return []error{e.RefusedError, btl.ErrUnwelcome} }

// Malformed ends the connection because of what the peer has sent.
func (c *Conn) Malformed(err error) { c.Down(c.Error("receiving", err)) }

// Goodbye ends the connection because the peer has said goodbye.
func (c *Conn) Goodbye() { c.Down(fmt.Errorf("rank %d: %w", c.Rank(), btl.ErrPeerClosed)) }
