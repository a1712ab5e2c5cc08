// Package self is the transport from a process to itself.
//
// A frame waits, by reference, until the next progress; then the receiver reads
// it out of the sender's own memory: one copy from the send buffer to the
// receive buffer. Nothing is delivered from within Send.
package self
