// Package userstack is SCTP over UDP (RFC 6951) in this process. What SCTP is is package sctp's (internal/sctp),
// which is pure. Here are the sockets, the clock, and the memory of what is sent.
//
// There is one UDP socket for each local address, all at one port, for any number of peers. The progress engine
// reads them. A packet goes to the endpoint, which knows whom it is for. What is to be answered goes out when all that
// has come was taken, in batches. One timer of the engine's serves all associations. There is no goroutine, and
// nothing is allocated for a packet.
//
// A short message is copied when it is sent, into memory of the stack's, and from there into packets. A long one is lent: it is
// copied into packets alone, from the sender's buffer. Either is kept until the peer has confirmed all of it.
package userstack
