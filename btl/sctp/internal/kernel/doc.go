// Package kernel is the kernel's SCTP as a stack of the sctp transport: one
// one-to-many socket for all peers and all data, bound to all local addresses.
//
// # What one peer may have outstanding
//
// All associations share the socket's send buffer, S bytes (twice what was asked
// for). Unless net.sctp.sndbuf_policy is 1 the kernel lets one peer that has
// stopped reading fill it for all. So what each peer has outstanding is bounded
// here, in bytes as the kernel charges them (sctpsock.Charge), by dynamic
// thresholds (Choudhury and Hahne, 1998): a message to a peer is taken while the
// peer has nothing outstanding, or less, with it, than
//
//	S/4 − what all peers together have outstanding,
//
// at least S/256, at most twice Config.Outstanding. Shares taken by that rule leave
// each next peer a part of what is left and never add up to S/4. Peers that find
// nothing left have S/256, or one message if it is longer. With m the charge of the
// longest message, what n stalled peers hold together stays below S/2 for
//
//	n ≤ (S/4) / max(m, S/256),
//
// and those that are not stalled go on, more slowly each, until S is full. For
// S = 8 MB (the default, if net.core.wmem_max or privileges allow it) that is 64
// stalled peers for messages of up to 15 KB, and 16 for those of 64 KB.
//
// # How that is known
//
// The kernel does not tell how much of an association is unacknowledged, but it
// can be asked to say when nothing is (SCTP_SENDER_DRY_EVENT), and says so at once
// if that is so already. It is asked when half of what a peer may have is reached,
// and its answer counts for everything that was sent before the question.
package kernel
