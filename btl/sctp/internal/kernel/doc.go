// Package kernel is the kernel's SCTP as a stack of the sctp transport: one
// one-to-many socket for all peers and all data, bound to all local addresses.
//
// # What one peer may have outstanding
//
// All associations share the socket's send buffer, S bytes (twice what was asked
// for). Unless net.sctp.sndbuf_policy is 1 the kernel lets one peer that has
// stopped reading fill it for all. So what each of the p peers has outstanding is
// bounded here, in bytes as the kernel charges them (sctpsock.Charge). Whatever the
// others have, each peer has a share of its own. It is one message or, if that is more,
//
//	least = max(S/4 / p, S/256).
//
// A peer may have more than that by the smaller of
//
//	S/4 − what all peers together have beyond their own,
//	what its SCTP says that it has room for,
//
// and at most twice Config.Outstanding in all. The first are dynamic thresholds
// (Choudhury and Hahne, 1998): each next peer gets a part of what is left, and the
// shares never add up to S/4. The second is for a process that has stopped. Its kernel
// takes messages until its receive buffer is full; from then on only its own share
// stays here. With m the charge of the longest message, what n stalled peers hold
// together stays below S/2 for
//
//	n ≤ (S/4) / max(m, S/256).
//
// The peers that are not stalled share the S/4. What a peer holds beyond its own is
// missing there if its kernel or its network falls silent with it.
//
// # How long messages may be
//
// A few peers must not fill a small buffer with one message each. So a message of
// [kernel.MaxMessage] is charged with at most S/32. The receive buffer must have room
// for a message on every stream, so MaxMessage is also at most half of that buffer
// divided by the streams. With the default buffers, if privileges or net.core.wmem_max
// allow them, S is 32 MB and n 63, for messages of up to 64 KB. On a system that allows
// no more than Linux's default (212992), S is 416 KB, messages are of 5600 bytes, and
// n is 9.
//
// # How that is known
//
// The kernel does not tell how much of an association is unacknowledged. But it can
// be asked to say when nothing is (SCTP_SENDER_DRY_EVENT); if that is so already it
// answers at once. It is asked when half of what a peer may have is reached. Its
// answer counts for everything that was sent before the question.
//
// Until it is told to stop, the kernel repeats the answer each time that nothing is
// unacknowledged again. If an answer were still unread at the next question, it would
// count for what was sent in between. So the kernel is told to stop with the first
// answer, and asked again only after the socket was read empty.
package kernel
