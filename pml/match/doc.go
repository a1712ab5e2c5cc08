// Package match decides which receive gets which message. It is the pure core
// of the message layer: no I/O, no clock, no locks; the caller serialises.
//
// The rule is MPI's (MPI 4.1, section 3.5): of two messages of one sender that
// both fit a receive, the one sent first is received first; of two receives that
// both fit a message, the one posted first gets it. Messages may arrive in any
// order. Each carries two numbers: its place among all messages of its sender in
// its context (seq), and its place in its lane (laneSeq), which holds all
// messages of a tag. A number counts as arrived when its message has, matched
// or not.
//
//   - A message is tag-ready when every lower number of its lane, or every lower
//     number of its sender, has arrived: it may match a receive that names its
//     tag, even if older messages in other lanes are missing.
//   - A message is seq-ready when every lower number of its sender has arrived:
//     only then may it match a receive, or be seen by a probe, for any tag.
//   - A tag-ready message whose first fitting receive, in posting order, names
//     any tag is held until it is seq-ready or that receive is gone. Nothing
//     else may take it.
//
// With relaxed ordering (the thesis's behaviour) a tag-ready message counts as
// seq-ready.
//
// What one arrival makes ready is considered in this order: seq-ready messages
// by seq; messages no longer held, in the order in which they became tag-ready;
// messages that are tag-ready only, by laneSeq.
//
// The cost of each operation does not depend on the number of posted receives
// or unexpected messages: receives are in lists by (source, tag), with wildcards
// as values of their own, found through a hash table; messages are in lists by
// (source, tag) and by tag, found through another, and in queues for receives of
// any tag. What an operation touches is kept close together, since the caches of
// the processor decide what many of either cost. There are two
// exceptions, both about messages that wait while an older one is missing: a
// receive for any source and one tag passes over those of that tag that are
// held; and when a receive for any tag goes while others that name a tag are
// posted, all of them are looked at again.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package match
