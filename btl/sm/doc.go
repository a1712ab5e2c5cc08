// Package sm is the transport between ranks of one host, over shared memory. Linux only.
//
// Whether two ranks share a host is found out and not believed. Each rank publishes the random
// name of an abstract Unix socket. Where that name answers, both are on one kernel and in one
// network namespace. The first frame connects the socket. Both prove which ranks of the job they
// are (package wireup), and the kernel tells each that the other belongs to the same user. Then
// the side that was connected to makes the memory (memfd). It allocates all pages, seals the
// memory so that nobody can shrink it, and hands it over with the last message of the handshake.
// The socket stays open: its end is the peer's end.
//
// # The memory
//
// A segment has a page of words and two rings, one for each direction. A ring has slots, and a store behind
// them. A slot is two cache lines of 64 bytes, and is a record. Its first word says what it is, how long it
// is, and the how manieth turn of the slots it belongs to. That word is written last. The reader polls the word of the slot
// whose turn it is. A header of a frame is in its slot, and a short payload too: so a short message takes one cache line
// that moves from processor to processor. A longer payload is in the store, in blocks of eight lines, where each record's
// follow those of the one before. If the reader is behind, so that few slots are free, short frames go into a bunch in the
// store, several to a record. A long frame is a record with its header, and then pieces: the receiver copies one
// out while the sender copies in the next. The sender writes whole cache lines (package coherence), since the reader has them from
// the last time. Who has received a frame fetches those of the answer before the program asks for them.
//
// Nothing in the memory is believed. Each side keeps its own count of what it has written and
// read. A word is read once and checked before it is used; a header is copied before it is looked
// at. Whatever makes no sense ends this connection and nothing else. If a peer is killed while it
// writes a record, the record was not announced and is not seen.
//
// # Waiting
//
// A side that waits looks at the memory. Before it sleeps it says so there, looks once more, and
// then sleeps on its descriptors. A side that has written looks whether the peer sleeps; if so, it
// sends a byte over the socket, the bell. So either the sleeper sees the record or the writer sees
// the sleeper: package sync/atomic keeps both orders on every processor.
package sm
