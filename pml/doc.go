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
//     pml_copy_limit), otherwise when the peer has acknowledged the frame.
//   - Rendezvous: a request to send, with or without a first piece of data; when
//     the message has matched the receiver answers with a clear to send that says
//     how much it takes; the rest follows in data frames, straight into the
//     receive's buffer.
//   - A message whose data might have to be kept by the receiver costs credit. A
//     sender without credit makes a request to send of it, with no data.
//
// docs/WIRE.md describes the headers; docs/ARCHITECTURE.md the whole.
package pml
