// Package transfer brings the DATA chunks of an SCTP association to the peer, each once, over one path or
// several: TSNs, acknowledgements and retransmission of RFC 9260, sections 6.1 to 6.7 and 7.
//
// It is pure: time is passed in, and it knows neither sockets nor packets, only the chunks in them.
//
//   - [Sender] gives fragments their TSNs, says which of them the next packet carries and over which path, and
//     reads acknowledgements.
//   - [Receiver] knows which TSNs have arrived, and says when to acknowledge them.
//
// # Loss
//
// What is lost, and how much may be under way, package recovery says. It counts packets, each path its own,
// and no number comes twice. SCTP's packets have no numbers, but the sender knows in which packet it has sent a
// TSN last, and which one before that. A TSN that is acknowledged is the later packet's, unless the answer
// comes sooner than any round trip: then the earlier one has arrived after all. So does one that the receiver
// reports twice.
//
// # Several paths
//
// Without Multipath new data goes over the primary path. One that does not answer a probe is suspected, and
// another one carries all that is under way (RFC 7829), long before it is given up.
//
// With Multipath all paths carry data at the same time (CMT: Iyengar, Amer and Stewart, IEEE/ACM Transactions
// on Networking 14(5), 2006). Of the three rules there, two come by themselves: a packet is compared with those
// of its own path only (split fast retransmit), and a window grows by what has arrived of its own path's
// packets, whatever the cumulative TSN does (CUC). For the third, a receiver to whom data comes by several
// paths does not answer each packet that is out of order (DAC). No path has more under way than its share of the
// peer's window: see hasShare.
package transfer
