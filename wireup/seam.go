package wireup

import (
	"net/netip"

	"github.com/strandmp/strand/btl"
)

// A Transport is a module whose connections a [Manager] sets up.
type Transport interface {
	btl.Module
	// NewEndpoint returns an endpoint, which embeds [Conn] and is not connected.
	NewEndpoint() Endpoint
	// Dial begins one attempt to connect, by a way of [btl.Path.Private]. The transport tells p
	// what becomes of it, by [Pending.Up] or [Pending.Ended]: later, and never from within Dial.
	// A success that is known at once is posted ([btl.Loop.Post]). A failure that is known at once
	// is the error; it counts as any failed attempt, and no link is left. If there can be only one
	// connection with a peer, and there is one already, the error is [syscall.EISCONN]. The
	// Manager then waits for that connection to be gone.
	Dial(p *Pending, way Way) (Link, error)
	// Holds reports whether an address that a peer means to reach is one of ours. A
	// transport without addresses of IP returns true for the zero value.
	Holds(target netip.AddrPort) bool
	// Linger waits, at most a millisecond, for something to arrive for the connections that are
	// leaving ([Manager.Leaving]). Only [Manager.Close] calls it, and has them work in between.
	Linger()
}

// A Link is one connection between two processes, or an attempt at one, that is no endpoint's
// yet. It ends exactly once: by Abort, by Leave or by [Endpoint.Start], which takes over the
// connection. A link that a transport has reported as ended ([Pending.Ended]) still gets its
// Abort.
type Link interface {
	// Send sends bytes of the handshake, which are few: at most [MaxMessage] at a time. A
	// transport of messages sends them as one. If its messages are shorter it cuts them, and its
	// reader hands over what comes as that of a stream does. B is not needed after the call.
	// That the peer has gone (EPIPE, ECONNRESET) ends nothing: the reader goes on to its end.
	Send(b []byte) error
	// Abort ends the connection at once and without a word.
	Abort()
	// Leave sends b, which may be empty, and ends the connection in order.
	Leave(b []byte)
	// Addresses are ours and the peer's, for people.
	Addresses() (local, remote string)
	// Target is the published address of the peer that this attempt means to reach. The
	// handshake proves that it has reached it. Only links of Dial are asked.
	Target() netip.AddrPort
}

// A Bound link runs inside a channel with keys of its own, such as TLS, whose ends have not proved
// yet who they are. A link need not implement it.
type Bound interface {
	// Binding returns bytes that only the two ends of the channel have (RFC 9266). The handshake
	// proves that they are the same at both ends, so that nobody is in between. Binding is
	// called when the handshake begins.
	Binding() []byte
}

func binding(l Link) []byte {
	if b, bound := l.(Bound); bound {
		return b.Binding()
	}
	return nil
}

// A Way is how a peer is reached: what a transport puts into [btl.Path.Private].
type Way interface {
	// Addresses are ours and the peer's, for people, as far as they are known before there
	// is a connection.
	Addresses() (local, remote string)
	// Describe is both, and why this way was chosen.
	Describe() string
}

// An Endpoint is a transport's endpoint. It embeds [Conn], which has its state and most of the
// methods, those of [btl.Endpoint] included. Send, Start and Detach are left to the transport. It
// may replace Ready, InFlight, and Prepare together with Addresses, if it has more to do or to
// tell than Conn.
type Endpoint interface {
	btl.Endpoint
	connection() *Conn

	// Prepare tells that l is about to become the endpoint's connection. From now on
	// Addresses are those of l, since the host may ask. The link is not the endpoint's yet.
	Prepare(l Link)
	// Start takes the link over. First is the last message of the handshake, which the
	// peer awaits before anything else; nil on the side that has heard it. An error ends
	// the endpoint, after a call of Detach.
	Start(l Link, first []byte, peer Greeting) error
	// Ready calls [btl.Receiver.Writable] if the endpoint has said Busy and can take a frame
	// now.
	Ready()
	// Detach ends the connection that Start has taken, and forgets all frames. A frame that has
	// half arrived is dropped ([btl.Receiver.Drop]) if the end is [Lost]. At any other end no
	// up-call may be made, so it is only forgotten.
	Detach(how End)
	// Addresses are ours and the peer's, for people, once Prepare was called.
	Addresses() (local, remote string)
	// InFlight is how many bytes were taken and not confirmed by the peer's system; -1 if
	// that is not known.
	InFlight() int
}

// An End is how an endpoint's connection ends.
type End uint8

const (
	// Lost: it is broken, or the peer has ended it.
	Lost End = iota
	// Leaves: this side ends it in order. What was taken is sent, then a goodbye.
	Leaves
	// Aborts: this side gives it up at once, for both sides.
	Aborts
)
