// Package programs makes random message programs, runs them on the ranks of one
// process and judges what happened by MPI's rules.
//
// A [Session] is a set of worlds over one transport, with limits drawn at random
// so that short messages meet every threshold, and programs run on it, each over
// communicators of its own: a few, since opening and closing is to be tested too,
// or some dozens, one after the other; or some at the same time, in goroutines of
// their own. All of it follows from one number, the session's seed, and it is the
// session that is run again when one of its programs has failed.
//
// A program is a list of steps: sends of every mode, receives with and without
// wildcards, from and into memory in one piece, in several, or as a layout picks it, probes, matched probes, cancelled receives, tests, persistent
// operations that are started again, exchanges in place, collective
// calls, blocking and such that go on by themselves, on communicators of some ranks and over grids of them, by algorithms that are drawn too, floods of buffered sends, and calls that block, some of them with contexts
// that end before or in the middle of them. What a rank has under way is waited for by one goroutine or by several at the same time, messages and collective calls together or
// apart. Some communicators have their collective calls ended by a member, some by one whose context ends; messages go on there, and some go on in what Shrink makes. Members agree on bits. Some ranks never wait, but test and probe until
// they have what they want. A program can not deadlock however its messages
// match: outside the ends of its phases nothing blocks but operations that their
// partner, at the same step, waits for until they are through; at a phase's end
// every rank receives all that was sent to it in that phase, which is known from
// the program.
//
// Around its programs a session has what the network has ([Setup]): rails with different
// limits and orders of preference, that fail and come back while programs run, at the first
// contact and while worlds close; a rank that goes mad. Ranks start in any order, and may part
// in mid-transfer, of which at most one stays until nobody is left.
//
// The judgement (see [Session.Run]) is made from what each rank saw, in its own
// order of calls, and knows nothing of frames, lanes or arrival:
//
//   - Every message is received once, whole and undamaged, or, where the buffer is
//     shorter, its beginning; bytes that are nobody's business are not touched.
//   - The matches of each rank can be put in an order that keeps to MPI's two
//     rules (MPI 4.1, section 3.5) and to the order of that rank's own calls.
//     That is less than asking for one order of arrival that explains
//     everything: with several senders and receives from any source there are
//     legal outcomes that none explains.
//   - No synchronous send completes before its message is received, and no flood takes more
//     memory than its limits allow.
//   - What a collective call gives is what one process would compute (package internal/test/calls).
//   - What a probe saw is what the next receive for it gets.
//   - Where one rank sends to another over a communicator and no receive is
//     taken back meanwhile, the two rules leave one outcome, which is computed and
//     compared.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package programs
