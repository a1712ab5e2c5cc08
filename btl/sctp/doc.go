// Package sctp is the transport over SCTP: one association with each peer, many
// streams in it. Messages of different tags travel on different streams, so that
// a lost packet delays its own tag only.
//
// Who speaks SCTP is one of two stacks behind one seam (internal/stack): the
// kernel, or pion/sctp over UDP in this process (internal/userstack). What follows
// is the same for both.
//
// # Connections
//
// A process has one port for all peers. An endpoint associates when it is first
// sent to; then both sides prove on the control stream, stream 0, that they hold
// the job's secret (package handshake). Who a peer is follows from that alone,
// never from an address. The connector says that it has heard the verdict before
// the acceptor sends, since other streams do not wait for the control stream.
//
// When two ranks associate at once the lower rank's attempt wins; the higher's is
// kept in reserve until that has succeeded. A stack that makes one association of
// two such attempts leaves a connector at either end: then the higher rank's
// turns acceptor.
//
// # Streams
//
// Lane l travels on stream 1 + l mod n, where n is the smallest of what both sides
// have asked for and what the association has. The message layer's control frames
// (btl.ControlLane) travel on the control stream: what is lost of messages does not
// delay acknowledgements and answers. With n = 1 they share stream 1 with the rest, so
// that one stream is what TCP is. The payload protocol identifier
// says what a message is: part of the handshake, a frame, or one of the two
// messages about the connection. It does not carry the context: that is the
// message layer's, which puts it in the header; a transport does not look in
// there, and a context does not fit into 32 bits.
//
// # Frames
//
// A frame is one message: a prefix of 8 bytes, the header, the payload.
//
//	0  4  length of the payload, at most what the sender has announced
//	4  1  length of the header, 1 to btl.MaxHeader
//	5  3  0
//
// A stack may hand a message over in pieces, between which come pieces of other
// streams: each stream has its own state, and a frame says itself how long it is.
//
// A goodbye says how many frames were sent on all streams together; the connection
// has ended in order when as many have come, in whichever order the streams bring
// them. An association that ends without one has broken, except that it may be
// shut down for being idle: then it comes back at the next frame.
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
