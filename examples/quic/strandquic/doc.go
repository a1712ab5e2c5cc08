// Package strandquic is a transport over QUIC (RFC 9000), by quic-go. It lives outside of
// Strand's own module; importing it registers it as "quic".
//
//   - Package wireup sets up the connections, chooses addresses and has the parameters for
//     both; package handoff has the goroutines and the queues, package framing the frames.
//   - Each peer has one QUIC connection. The side that has connected opens the first stream.
//     It carries the handshake, then the message layer's control frames in both directions. Each
//     side opens a stream of its own for each of its lanes. So a lost packet holds up only the
//     lanes whose frames it has carried.
//   - Each stream ends with a goodbye. The peer has left in order when the goodbyes of all its
//     streams have come, since streams do not wait for each other.
//   - TLS 1.3 encrypts. Each process makes its own certificate, for which nobody vouches. The
//     handshake of package wireup proves that the peer is of this job. It also proves that nobody
//     is in between, as it takes in bytes that only the two ends of this TLS connection can know
//     (RFC 9266; [wireup.Bound]).
//   - Strangers are bounded before TLS is done. Whoever connects shows first that packets reach him at
//     his address. He has a place at the door until his hello has come whole, of which an address may hold
//     as many as are still free. Then he has one of package wireup's places while TLS goes on. Who
//     is refused for want of room knocks again until his attempt's time is over.
package strandquic
