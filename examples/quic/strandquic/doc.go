// Package strandquic is a transport over QUIC (RFC 9000), by quic-go. It lives outside of
// Strand's own module; importing it registers it as "quic".
//
//   - Package wireup sets up the connections, chooses addresses and has the parameters for
//     both; package handoff has the goroutines and the queues, package framing the frames.
//   - A connection to a peer is one of QUIC. Its first stream, of the side that has
//     connected, carries the handshake, then in both directions the message layer's control
//     frames. Each side opens a stream of its own for each of its lanes, so that a lost
//     packet holds up only the lanes that it was of.
//   - Each stream ends with a goodbye. When all of a peer's have come it has left in order:
//     streams do not wait for each other.
//   - TLS 1.3 encrypts. Nobody vouches for the certificates, which each process makes for
//     itself: that the peer is of this job, and that nobody is in between, is proved by the
//     handshake, which takes in what only the two ends of this very TLS connection can know
//     (RFC 9266; [wireup.Bound]).
//   - What is not bounded: the TLS handshakes of strangers. Who shows that packets reach him at the
//     address that he names has one made for him, a connection and a goroutine of quic-go's for
//     as long as connect_timeout says, before package wireup gives it one of its places.
package strandquic
