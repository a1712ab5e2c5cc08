// Package datagram has UDP sockets in the progress engine's own poller, for the transports that put
// packets into them.
//
// A [Socket] is that of one of our addresses, and any number of peers. What arrives, joined by the kernel where
// it can (UDP_GRO) and several datagrams a call, is handed to the socket's [Owner] packet by packet, from
// buffers that all sockets of a transport share. So many packets are read at a poll, and no more, that
// a peer that sends without end does not keep the others waiting. What goes to one peer goes out in batches
// (rawio.Packets). A sender that the system has no room for is told when it has.
//
// All is serial under the engine. Nothing here allocates for a packet, and there is no goroutine.
package datagram
