// Package tcp is the transport over TCP: one connection for each path to a
// peer, made when it is first sent to.
//
// # Connections
//
// A process listens on one port, the same on each of the addresses it has
// selected. The side that connects chooses the pair of addresses and says so in
// its hello; the side that accepts takes any pair. Before anything else both sides
// prove which ranks of the job they are (package internal/handshake).
//
// An endpoint is CLOSED until it is first sent to, then CONNECTING (the
// connection is being made), CONNECT_ACK (the handshake is under way),
// CONNECTED, and FAILED after its end. It never goes back: to go on, the host asks
// the module for a new endpoint, whose attempts have higher epochs. Each
// transition is a line of log, with both ranks, addresses and epoch: at verbose 1
// those that users ask about, at 2 all.
//
// When two ranks connect to each other at once, the lower rank's attempt wins. The
// higher rank's attempt is kept in reserve until then. It takes the other's place
// if that fails or gets no answer in time. So a path that works in one direction
// only is enough.
//
// # Frames
//
// After the handshake each direction is a sequence of frames, as package framing has them. A
// goodbye is the last one: a stream that ends without it has broken. With btl_tcp_encrypt the
// frames travel in records (package record).
//
// What each side tells about itself in the handshake is
//
//	0  4  the largest payload it will send in one frame
//	4  1  1 if what it sends after the handshake is in records, else 0
//	5  1  0
//	6  1  length of its host name, at most 255
//	7  n  its host name
//	7+n   the host's own hello (btl.Host), at most 4096 bytes
//
// # Calls
//
// A lone frame of up to 4 KB, and of a burst all up to 16 KB, or 31 within this machine, but the first, are copied behind
// those that wait. They go out in one system call, which a burst shares. A longer frame goes out
// in one call that gathers prefix, header and payload from where they are. Receiving reads 64 KB
// ahead; the rest of a longer frame is read straight into its landing place. An
// encrypted connection reads and writes whole records instead.
//
// Within this machine, and without encryption, frames are filled up to whole cache lines (package framing): the system
// copies them faster then.
package tcp
