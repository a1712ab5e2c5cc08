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
	// Dial begins one attempt to connect, by a way of [btl.Path.Private]. What becomes of it
	// is told to p, later and never from within Dial: [Pending.Up], or [Pending.Ended]. Where that
	// is known at once, success is posted ([btl.Loop.Post]), and a failure is the error: an attempt
	// that has failed like any other, of which no link is left. Where there can be only one
	// connection with a peer, and there is one already, the error is [syscall.EISCONN], and the
	// Manager waits for that one to be gone.
	Dial(p *Pending, way Way) (Link, error)
	// Holds reports whether an address that a peer means to reach is one of ours. A
	// transport without addresses of IP says so of the zero value.
	Holds(target netip.AddrPort) bool
	// Linger waits for something to arrive for the connections that are leaving
	// ([Manager.Leaving]), at most a millisecond. Only [Manager.Close] calls it, which has them
	// work in between.
	Linger()
}

// A Link is one connection, or attempt at one, between two processes, that is no endpoint's
// yet. It ends exactly once: by Abort, by Leave or by [Endpoint.Start], which takes what it
// stands for. A link that a transport has reported as ended ([Pending.Ended]) still gets its
// Abort.
type Link interface {
	// Send sends bytes of the handshake, which are few: at most [MaxMessage] at a time. A
	// transport of messages sends them as one. B is not needed after the call.
	Send(b []byte) error
	// Abort ends the connection at once and without a word.
	Abort()
	// Leave sends b, which may be empty, and ends the connection in order.
	Leave(b []byte)
	// Addresses are ours and the peer's, for people.
	Addresses() (local, remote string)
	// Target is the address that the peer has published and that an attempt of ours means
	// to reach: the handshake proves it. Only links of Dial are asked.
	Target() netip.AddrPort
}

// A Bound link runs inside a channel that has keys of its own, which nobody has proved yet: TLS,
// for example. Optional.
type Bound interface {
	// Binding are bytes that only the two ends of the channel have (RFC 9266). The handshake
	// proves that they are the same at both ends, so that nobody is in between. It is
	// asked for them when it begins.
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

// An Endpoint is a transport's endpoint. It embeds [Conn], which has its state and implements
// most of this, and of [btl.Endpoint]: what is left are Send, Start and Detach. Ready, Prepare with
// Addresses, and InFlight are for who has more to do, or to tell, than Conn.
type Endpoint interface {
	btl.Endpoint
	connection() *Conn

	// Prepare tells that l is about to become the endpoint's connection: from now on
	// Addresses are those of l. The link is not the endpoint's yet; the host may ask for
	// what the endpoint goes over.
	Prepare(l Link)
	// Start takes the link over. First is the last message of the handshake, which the
	// peer awaits before anything else; nil on the side that has heard it. An error ends
	// the endpoint, after a call of Detach.
	Start(l Link, first []byte, peer Greeting) error
	// Ready has the endpoint call [btl.Receiver.Writable], if it has said Busy and can
	// take a frame now.
	Ready()
	// Detach ends the connection that Start has taken, and forgets all frames. What has half
	// arrived is dropped ([btl.Receiver.Drop]) if the end is [Lost], and forgotten
	// otherwise: then no up-call may be made.
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
