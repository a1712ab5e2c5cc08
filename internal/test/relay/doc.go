// Package relay stands between the ranks of one process, in the middle of their TCP connections, and
// does to the bytes what networks and middleboxes do: it cuts connections after any number of bytes,
// in order or by a reset, closes one direction, holds bytes back, cuts them into pieces, and flips bits.
//
// [New] wraps the transport tcp. Each rank listens as ever, but publishes the port of a relay of its
// own, and takes that for its own port: so the handshake proves what it would prove without the relay.
// What happens to a connection a [Plan] says, by the connection's number.
package relay
