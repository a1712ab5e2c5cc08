// Package sm is the transport between ranks of one host, over shared memory. Linux only.
//
// Whether two ranks share a host is found out and not believed: each has an abstract Unix
// socket with a random name, in its published address. Where that name answers, both are on
// one kernel and in one network namespace. At the first frame the socket is connected, both
// prove which ranks of the job they are (package wireup), and the kernel tells that the other
// belongs to the same user. Then the side that was connected to makes a piece of memory
// (memfd), sealed so that nobody can shrink it and with all its pages there, and hands it over
// with the last word of the handshake. The socket stays open: its end is the peer's end.
//
// # The memory
//
// A segment has a page of words and two rings, one for each direction. A ring is a sequence of
// records in cache lines of 64 bytes. The first word of a record says what it is and how long;
// it is written last. The reader polls the word at which the next record will begin, and so has
// a short message by one cache line that moves from processor to processor. A longer frame is a
// record with its header and then pieces, which the receiver copies out while the sender
// copies in the next ones. Long messages go through the same few lines again and again, which
// stay in the cache.
//
// Nothing that stands in the memory is believed. Each side knows by itself how far it has
// written and read; a word is read once and checked before it is used; a header is copied
// before it is looked at. What makes no sense ends this connection and nothing else. A record
// of a peer that was killed while it wrote was not announced, and is not seen.
//
// # Waiting
//
// Who waits looks at the memory. Who is about to sleep says so there, looks once more, and
// sleeps on its descriptors; who writes looks whether the peer has said so, and if it has, sends
// a byte over the socket. Both orders are kept by package sync/atomic, on every processor.
package sm
