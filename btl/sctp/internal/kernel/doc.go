// Package kernel is the kernel's SCTP as a stack of the sctp transport: one
// one-to-many socket for all peers and all data, bound to all local addresses.
//
// # What one peer may have outstanding
//
// All associations share the socket's send buffer, S bytes (twice what was asked
// for). Unless net.sctp.sndbuf_policy is 1 the kernel lets one peer that has
// stopped reading fill it for all. So what each of the p peers has outstanding is
// bounded here, in bytes as the kernel charges them (sctpsock.Charge). Everybody's
// own, whatever the others have, is one message or, if that is more,
//
//	least = max(S/4 / p, S/256).
//
// A peer may have more than that by the smaller of
//
//	S/4 − what all peers together have beyond their own,
//	what its SCTP says that it has room for,
//
// and at most twice Config.Outstanding in all. The first are dynamic thresholds
// (Choudhury and Hahne, 1998): shares taken by them leave each next peer a part of
// what is left and never add up to S/4. The second keeps a process that has stopped
// from taking such a share: its kernel takes messages until its receive buffer is
// full, and what would stay here then is its own. With m the charge of the longest
// message, what n stalled peers hold together stays below S/2 for
//
//	n ≤ (S/4) / max(m, S/256),
//
// and those that are not stalled share S/4, less what peers hold beyond their own
// that have fallen silent together with their kernel or their network.
//
// # How long messages may be
//
// So that a few peers do not fill a small buffer with one message each, and that the
// receive buffer has room for a message on every stream, [kernel.MaxMessage] is
// what is charged with at most S/32, and at most half of the receive buffer divided
// by the streams. With the default buffers, if privileges or net.core.wmem_max allow
// them, S is 32 MB and n 63, for messages of up to 64 KB. With those of a system that
// allows no more than Linux's default (212992), S is 416 KB, messages are of 5600
// bytes, and n is 9.
//
// # How that is known
//
// The kernel does not tell how much of an association is unacknowledged, but it
// can be asked to say when nothing is (SCTP_SENDER_DRY_EVENT), and says so at once
// if that is so already. It is asked when half of what a peer may have is reached,
// and its answer counts for everything that was sent before the question. Until it is
// told to stop it goes on saying so, at every time that it is so again. An answer that
// was not read before the next question would count for what was sent in between. So
// it is told to stop with the first answer, and asked again when the socket was read
// empty.
package kernel
