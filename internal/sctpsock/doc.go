// Package sctpsock is the SCTP of the Linux kernel as one socket for many peers
// (SOCK_SEQPACKET, RFC 6458, section 3).
//
// One descriptor carries all associations, and what arrives says which one it
// belongs to. No call but [Socket.Wait] blocks. The descriptor is in nobody's poller:
// the caller watches it by its own. Sending and receiving allocate nothing. The
// methods of one socket may be called by one goroutine at a time.
//
// # Whose code
//
// Addresses are encoded by github.com/ishidawataru/sctp. That package lacks much of
// what a one-to-many socket needs: sockets of this kind, SNDINFO and RCVINFO, MSG_EOR,
// gather I/O, most options, notifications as values. Some of what it has can not be
// used here:
//
//   - SCTPBind and SCTPConnect hand the kernel the address of bytes that nothing
//     keeps alive any more. SCTPConnect also drops the association's number while the
//     connection is under way, which with a non-blocking socket is always. Instead:
//     [Socket.Bind], [Socket.Connect].
//   - SCTPRemoteAddr takes all addresses to be of the first one's family, and trusts
//     the number of them. Instead: [Socket.PeerAddrs].
//   - SCTPRead allocates 254 bytes a call, SCTPWrite encodes by reflection, and Close
//     sends on a descriptor that it has given up.
//
// # Kernel facts
//
//   - All associations share the socket's send buffer unless net.sctp.sndbuf_policy
//     is 1: a peer that reads nothing can fill it for everybody.
//   - A message is taken whole whenever there is any room, and charged with the
//     memory of its chunks ([Charge]).
//   - With FragmentInterleave 1 messages of a stream may come in another order than
//     that of their SSN. When a partial delivery ends, the kernel queues whole
//     messages of several chunks before shorter ones that have waited longer
//     (sctp_ulpq_clear_pd, seen with 6.1).
//   - A network error of one association may show as an error of any call on the
//     socket. Notifications tell it as well.
package sctpsock
