// Package rails decides by which ways a peer is reached, which of them carry messages,
// and when the peer has failed. It is pure: no I/O, no clock, no locks. The caller tells
// what has happened and when, and does what [Peer.Next] and [Peer.Look] say.
//
// A [Rail] is one way to the peer. It is in one [State] at a time:
//
//	Idle        never asked to connect; what stands by is idle too
//	Connecting  asked to connect, or being connected by the peer
//	Up          connected, and carries messages
//	Doubted     connected, but silent or creeping: others go first
//	Trial       connected again after a break: it carries probes alone, until these were answered
//	Resting     connected, and one of a higher tier carries everything
//	Breaking    its transport takes nothing more, and is about to say why
//	Down        broken, or could not be connected: it is tried again when that is due
//	Gone        another attempt would only fail again
//
// Events are methods: [Peer.Open], [Peer.Adopt], [Peer.Up], [Peer.Broken], [Peer.Down],
// [Peer.Doubt], [Peer.Probed], [Peer.Shut]. docs/decisions/0033-rail-states.md has the
// table of what each does in each state; a test holds the code to it.
//
// A rail that is [Rail.Aside] is Idle, Connecting, Up, Doubted, Breaking or Down. What happens to it
// changes no other rail and nothing that is known of the peer.
//
// Which way is next is one policy, [Peer.Next], for all that may ask for one: first
// contact, spare paths, transports that stand by, the call through the launcher, recovery.
// Who has failed is one list of reasons, [Evidence.Verdict].
package rails
