// Package userstack speaks SCTP over UDP in this process: the associations are
// those of github.com/pion/sctp, the sockets and what sorts the packets are ours.
//
// # One socket, many peers
//
// There is one UDP socket for each local address, all at one port. The progress
// engine reads them; a packet belongs to the association that its verification
// tag names, if it comes from that peer's address. A stranger's INIT is answered
// without keeping anything: all that an association will need is in the cookie,
// which the peer has to echo from the address it claims. Only then pion is given
// an association, ready made.
//
// # Goroutines
//
// Pion has three for each association: one reads packets (from us), one writes
// them (to the socket), one has the timers. The engine neither waits for them nor
// they for the engine. It hands packets over through a ring of bounded size; if
// that is full it stops reading the socket. When pion has worked a packet off and
// asks for the next, the association is on the list of those that have news, and
// the engine looks at its streams: those that the packets were for.
//
// Messages that nobody reads stay in pion, whose receive window closes; what is
// sent and not acknowledged is bounded by [stack.Tuning].Outstanding.
//
// # Losses
//
// Congestion control is pion's. What it would find lost by its timeout alone is sent again
// here, as probes (again.go).
package userstack
