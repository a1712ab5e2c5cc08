// Package udp is the transport over UDP: frames are delivered whole, once, and in whatever order they
// arrive. A packet that is lost delays the frames that it had a part of, and nothing else.
//
// # Connections
//
// A process has one socket for each selected address, for any number of peers. A packet names the
// connection that it belongs to, by a number of 64 bits that its receiver has chosen and that nobody can
// guess. Package wireup sets connections up; a stranger has to show a cookie before anything is kept for it.
//
// # Packets
//
// Package recovery says what is lost and how much may be under way. A packet has a number of its own,
// which never comes again: what was in a lost packet travels in a new one. Packets to one peer go out
// together, cut by the kernel where it can (UDP_SEGMENT), and come in together (UDP_GRO).
//
//   - endpoint.go   a connection, from its first thought to its end
//   - link.go       the handshake's messages, and who a packet is for
//   - sender.go     frames are cut into parts, parts put into packets
//   - receiver.go   packets are taken, frames put together
//   - answer.go     acknowledgements
//   - packet.go     the bytes (docs/WIRE.md, section 4c)
//   - moved.go      a peer whose address changes
//   - seal.go       btl_udp_protect
//   - socket.go     the sockets, which are package datagram's
package udp
