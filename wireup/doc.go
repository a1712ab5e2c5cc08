// Package wireup sets up the connections of a transport: everything between the first frame
// for a peer and [btl.Receiver.Up], on both sides. It is for transports that come with
// Strand and for those of others.
//
// A transport has a [Manager] for each module. It brings a seam of a few calls
// ([Transport], [Link], [Endpoint]): dial, send bytes of the handshake, abort, leave; and it
// tells the Manager what happens: somebody has come ([Manager.Came]), an attempt is up
// ([Pending.Up]), bytes have arrived ([Pending.Bytes]), a connection has ended
// ([Pending.Ended]). The Manager does the rest:
//
//   - Both sides prove which ranks of the job they are before either believes anything, and
//     each gets the other's [Greeting] (docs/WIRE.md, section 2). The two ends have keys
//     afterwards that nobody else has ([Conn.Key]). Where the connection runs inside of
//     a channel with keys of its own, the proof is of that one too ([Bound]).
//   - Two ranks that connect to each other at once end with one connection. The lower rank's
//     attempt wins; the higher's is kept in reserve until that has succeeded, and takes its
//     place if it fails or gets no answer in time: a network that works in one direction
//     only is enough. Attempts have epochs, so that a connection that the peer has lost is
//     told from one that has crossed.
//   - Failed attempts are repeated, with pauses; every step has its time.
//   - Connections that have not proved themselves are embryonic. They are few, and whoever
//     floods a port pays with its own places (docs/decisions/0025-strangers.md).
//   - An endpoint is CLOSED, CONNECTING, CONNECT_ACK, CONNECTED or FAILED. Each transition is
//     a line of log with both ranks, addresses and epoch; each failure is a [btl.ConnError]
//     with phase, cause and remedy.
//   - A connection that was closed has a little time to send its last bytes ([Leaver]).
//
// # Kinds of transports
//
// A stream hands over whatever pieces it has read, of at most [Pending.Need] bytes. A
// transport of messages hands over one message at a time. Where messages may be lost,
// repeated or overtaken, [Config.Repeat] says when one is sent again: each message is then
// taken once, the answer to one that comes again is said again, and what proves nothing is
// passed over, since anybody may have sent it. Such a transport gives each attempt an
// identifier of its own, tells [Manager.Came] of the first message with an unknown one, and
// hands over messages of the handshake even when the endpoint is connected. No answer to a
// stranger is longer than the question. If it wants a cookie to come back before it keeps
// anything for a stranger it asks for one before Came ([Manager.Cookie]), and calls
// [Pending.Again] at the side that was asked for it.
//
// A transport without addresses of IP has its own [Way], targets that are the zero value,
// and no use for what follows.
//
// # Addresses
//
// A [Base] is what the modules of all transports over IP have in common: it reads the parameters
// ([AllParameters]), has the addresses that the module uses ([Local]) chosen by the user
// ([Choice]), published ([Address]) and paired with a peer's by package reach, and offers the
// pairs as paths, the spare ones included. [Bind] finds a port that is free on all of them.
package wireup
