// Package userstack speaks SCTP over UDP in this process: the associations are
// those of github.com/pion/sctp, the sockets and what sorts the packets are ours.
//
// # One socket, many peers
//
// There is one UDP socket for each local address, all at one port. The progress
// engine reads them. A packet belongs to the association that its verification
// tag names, if it comes from that peer's address. A stranger's INIT is answered
// without keeping anything: all that an association will need is in the cookie. The
// peer has to echo the cookie from the address it claims. Only then pion is given an
// association, ready made.
//
// # Goroutines
//
// Pion has three for each association: one reads packets (from us), one writes
// them (to the socket), one has the timers. The engine does not wait for them, nor
// they for the engine. The engine hands packets over through a ring of bounded size;
// if that is full it stops reading the socket. When pion has handled a packet it asks
// for the next. That puts the association on the list of those that have news. The
// engine then looks at the streams that the packets were for.
//
// Messages that nobody reads stay in pion, and its receive window closes. What is
// sent and not acknowledged is bounded by [stack.Tuning].Outstanding.
//
// # Losses
//
// Congestion control is pion's. Some losses it finds only by its timeout. What they may be is
// sent again here, as probes (again.go).
package userstack
