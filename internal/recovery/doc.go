// Package recovery says, for what was sent over one path in packets, what has arrived, what is lost,
// what to do when nothing is heard, and how much may be under way. It is what a transport over
// datagrams needs between its sockets and its frames.
//
// It is pure. It knows neither sockets nor what packets contain. Time is passed in, in nanoseconds of
// any clock that does not go back. So a simulation runs a connection of hours within a second.
//
//   - [Path] is the sender's side: packets get numbers in the order in which they are sent, and never
//     the same one twice. Loss is found by packet and time thresholds, and by probes when
//     acknowledgements stay away: RFC 9002, with RACK's adaptation to networks that reorder
//     (RFC 8985, section 6.2). Loss that turns out to be none is taken back. What is lost each time that it is sent
//     does not reduce the window each time, and waits longer from time to time ([Path.Pause]).
//   - [Controller] says how much may be under way: [NewReno] as in RFC 9260, section 7.2, [NewCubic] as
//     in RFC 9438, with proportional rate reduction (RFC 6937), both with the slow start of RFC 9406.
//   - [Arrivals] is the receiver's side: which numbers have arrived, and when to say so.
//   - [MTU] finds the longest packet that a path carries: RFC 8899.
//
// A transport with several paths to a peer has one Path for each. A loss on one path so says nothing of
// another: the "split fast retransmit" of concurrent multipath transfer (Iyengar, Amer and Stewart,
// IEEE/ACM Transactions on Networking 14(5), 2006).
package recovery
