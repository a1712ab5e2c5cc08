// Package sctp is the transport over SCTP: one association with each peer, many
// streams in it. Messages of different tags travel on different streams, so that
// a lost packet delays its own tag only.
//
// One of two stacks speaks SCTP, behind one seam (internal/stack): the kernel, or Strand's own in this
// process, over UDP (internal/userstack). What follows is the same for both.
//
// # Connections
//
// A process has one port for all peers. An endpoint associates when it is first
// sent to. Then both sides prove on the control stream, stream 0, which ranks of the
// job they are (package internal/handshake). Who a peer is follows from that alone,
// never from an address. Other streams do not wait for the control stream, so the
// acceptor's first frames could overtake its verdict. Hence the connector tells that
// it has the verdict, and the acceptor sends no frame before.
//
// When two ranks associate at once the lower rank's attempt wins; the higher rank's
// is kept in reserve until that has succeeded. A stack may make one association of
// two such attempts. Then both ends are connectors, and the higher rank's turns
// acceptor.
//
// # Streams
//
// Lane l travels on stream 1 + l mod n. n is the smallest of what both sides have
// asked for, what the association has, and what the peer's window bears. The message
// layer's control frames (btl.ControlLane) travel on the control stream, so that a lost
// packet of a message does not delay acknowledgements and answers. With n = 1 they share
// stream 1 with the rest: one stream is to behave as TCP does.
//
// The payload protocol identifier says what a message is: part of the handshake, a
// frame, or one of the two messages about the connection. It does not carry the
// context. That is in the message layer's header, which a transport does not read,
// and it does not fit into 32 bits.
//
// # Frames
//
// A frame is one message: a prefix of 8 bytes, the header, the payload.
//
//	0  4  length of the payload, at most what the sender has announced
//	4  1  length of the header, 1 to btl.MaxHeader
//	5  3  0
//
// A stack may hand a message over in pieces, with pieces of other streams in
// between. So each stream has its own state, and a frame says itself how long it is.
//
// A goodbye says how many frames were sent on all streams together. The connection
// has ended in order when as many have come, in whichever order the streams bring
// them. An association that ends without a goodbye has broken, unless it was shut
// down for being idle: then it comes back at the next frame.
//
// What each side tells about itself in the handshake is
//
//	0  4  the largest payload it will send in one frame
//	4  2  streams for frames, as asked for
//	6  1  0
//	7  1  length of its host name, at most 255
//	8  n  its host name
//	8+n   the host's own hello (btl.Host), at most 4096 bytes
package sctp
