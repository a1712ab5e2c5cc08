// Package sctp is associations of SCTP (RFC 9260): how they begin, which paths they have, how they end, and
// what of it travels in which packet. Data is the business of packages stream (messages) and transfer (TSNs,
// acknowledgements, congestion).
//
// It is pure. It has no sockets, no goroutines and no locks. Time is passed in, in nanoseconds of any clock
// that does not go back. Packets go in by [Endpoint.Receive] and come out by [Association.Send]. So a simulation
// runs hours of it within a second, and whoever carries packets may do so as it likes: here it is UDP
// (RFC 6951), so that an address is one of IP with a port of UDP's.
//
//	a, reply := endpoint.Receive(now, local, from, packet, buf)
//	... reply goes back to where the packet came from
//	for a != nil {
//		packet, way, ok := a.Send(now, buf)
//		if !ok {
//			break
//		}
//		... packet goes from way.Local to way.Remote
//	}
//	... and at a.At(): a.Tick(now), then Send again
//
// An [Endpoint] is one SCTP port. It finds the association that a packet is for. It keeps nothing for a stranger
// until the stranger has sent a cookie back, which says that it is where it says it is (section 5.1.3).
//
// # Paths
//
// A [Pair] of addresses is a path. Data goes over the first path that is good, or over all at once
// (Config.Multipath). A path is not used until a heartbeat with a number that nobody can guess has come back over
// it (section 5.4). The length of its packets is found out by heartbeats that are padded (RFC 8899,
// section 6.2).
//
// # What is spoken
//
// RFC 9260; I-DATA (RFC 8260) and packets without a checksum (RFC 9653) where both sides offer them. For how long
// acknowledgements are held back peers are told by an adaptation code point (RFC 5061, section 4.2.6). Nothing
// else is offered: no partial reliability (RFC 3758), no dynamic addresses (RFC 5061), no authentication
// of chunks (RFC 4895), no reset of streams (RFC 6525), no ECN. What a peer sends of it all the same is answered
// as what is unknown, as its type demands (section 3.2).
//
// # Strangers
//
// Nothing that arrives is trusted. A packet is answered by one packet at the most, but for timers. Whoever does not
// know an association's tag, 32 random bits, can do nothing to it. Tie-tags are random too, so that an answer to a
// stranger tells no tag.
//
//   - endpoint.go     who a packet is for, and packets out of the blue
//   - listener.go     an INIT and a COOKIE ECHO of a stranger
//   - existing.go     those of a peer: collision and restart (section 5.2)
//   - cookie.go       the cookie
//   - parameters.go   what an INIT says of its sender
//   - association.go  an association, and what its owner does to it
//   - begin.go        from INIT to being established
//   - receive.go      what comes in
//   - send.go         what goes out
//   - path.go         heartbeats, errors, the length of packets
//   - timers.go       when what is due
//   - end.go          ABORT and SHUTDOWN
package sctp
