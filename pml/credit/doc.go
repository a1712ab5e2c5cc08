// Package credit bounds the memory that the messages of one peer can take before
// they are received: a sender sends unasked only what the receiver has granted.
//
// Credit is counted in units of 64 bytes, and as absolute numbers that wrap around:
// what was granted, and what was used, since the connection came up. So a grant that is
// lost, or overtaken by a newer one, does no harm, and a grant fits into every header.
//
// A [Sender] is what a peer lets us send, a [Receiver] what we let a peer send, and a
// [Pool] what the process has left to promise beyond each peer's first grant. They are
// pure: nothing here knows of frames, messages or peers. docs/ARCHITECTURE.md, Credit,
// says what is charged and when a grant grows; docs/WIRE.md where the numbers stand.
package credit
