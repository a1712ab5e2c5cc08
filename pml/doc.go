// Package pml is the point-to-point message layer: it matches messages with
// receives, chooses the protocol for each message, cuts long ones into frames,
// spreads those over the rails to a peer and sees to it that each frame is
// delivered once.
//
// A [PML] is opened once for each world and drives the transports (package btl)
// through one progress engine, under whose lock everything here runs. The rule
// of matching is in package match.
//
// # How a message travels
//
//   - Eager: header and data in one frame. The send completes when its buffer may
//     be reused: at once if the data was copied for a possible replay (up to
//     pml_copy_limit; above 4 KB only if its end is asked for), otherwise when the
//     peer has acknowledged the frame.
//   - Rendezvous: a request to send, with or without a first piece of data; when
//     the message has matched the receiver answers with a clear to send that says
//     how much it takes; the rest follows in data frames, straight into the
//     receive's buffer.
//   - A message whose data might have to be kept by the receiver costs credit. A
//     sender without credit makes a request to send of it, with no data.
//
// # Memory for unexpected messages
//
// Each process promises its peers memory for messages that have no receive yet:
// pml_credit_first bytes to each peer that it is connected to, and to all of them
// together up to pml_unexpected_max bytes more, of which one peer gets at most
// what pml_credit_max says. A message takes 448 bytes and its data, rounded up
// to 64. A flood keeps within twice what is promised: messages of few tags take
// about as much as they are charged for, messages with a tag each 1.6 times as
// much, for the tables in which they are found. Beyond its credit a peer costs
// some 400 bytes for each of its sends that is under way, which it has to keep
// itself. So a flood holds up who sends it; whoever receives is safe.
//
// docs/WIRE.md describes the headers; docs/ARCHITECTURE.md the whole.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package pml
