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
//     attempt wins. The higher rank's is kept in reserve, and takes over if the other fails or
//     gets no answer in time. So a network that works in one direction only is enough. The
//     epochs of attempts tell a connection that the peer has lost from one that has crossed.
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
// transport of messages hands over one message at a time.
//
// Where messages may be lost, repeated or overtaken, [Config.Repeat] says when one is sent
// again. Each message is then taken once. If it comes again its answer is sent again. A message
// that proves nothing is passed over, since anybody may have sent it. Such a transport gives each
// attempt an identifier of its own. It calls [Manager.Came] for the first message with an unknown
// identifier. It hands over messages of the handshake even when the endpoint is connected. No
// answer to a stranger is longer than the question. A transport that wants a cookie before it
// keeps anything for a stranger asks for one before Came ([Manager.Cookie]). The side that was
// asked calls [Pending.Again].
//
// A transport without addresses of IP has its own [Way], and its targets are the zero value. It
// has no use for what follows.
//
// # Addresses
//
// A [Base] is what the modules of all transports over IP have in common. It reads the parameters
// ([AllParameters]) and selects the addresses that the user has chosen ([Choice], [Local]). It
// publishes them ([Address]), pairs them with a peer's by package reach, and offers the pairs as
// paths, the spare ones included. [Bind] finds a port that is free on all of them.
package wireup
