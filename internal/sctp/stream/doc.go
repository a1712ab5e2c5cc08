// Package stream is the messages of an SCTP association: how they are cut into fragments for packets, in
// which order, and how they are put together again (RFC 9260, sections 6.5, 6.6 and 6.9; RFC 8260).
//
// It is pure. It knows neither sockets nor time, nor TSNs but by what they say of fragments.
//
//   - [Outgoing] has a queue for each stream, and a scheduler that says which is served next (RFC 8260,
//     section 3). It hands out fragments, each as long as the packet has room for. A [Fragment] is a view of
//     the message: nothing is copied. With I-DATA another stream may be served after each fragment, with DATA
//     after each message.
//   - [Incoming] hands over what arrives, in the order of each stream, and at once as far as it can. A long
//     message so is handed over in pieces, and takes no memory (partial delivery). Only what has overtaken
//     something else is copied and kept, within bounds.
//
// What breaks the rules is a [Violation], with the cause that the peer is to be told.
//
// Streams can not be reset (RFC 6525), and nothing is given up before it has arrived (RFC 3758).
package stream
