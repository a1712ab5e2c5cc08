// Package btltest has what the unit tests of a transport need around it: a [Loop] with a
// clock that the test moves, a [Host], and a [Receiver] that keeps what it is told. Package
// conformance tests whether a transport keeps the contract. This package is for tests of its parts,
// and of what happens only at a certain moment.
//
//	a, b := btltest.NewHost(t, 0, 2, Component{}), btltest.NewHost(t, 1, 2, Component{})
//	b.Clock = a.Clock                         // two ranks that one test turns
//	m, peer := a.Open(), b.Peer(b.Open())     // modules, closed at the end of the test
//	paths, err := m.Reach(peer)
//	recv := a.NewReceiver(1)
//	ep, err := m.Connect(peer, paths[0], recv)
//	ep.Send(&btl.Frame{Header: []byte("h")}, 0)
//	a.Clock.Until(t, "a connection", func() bool { return recv.Ups == 1 })
//
// Where descriptors are under watch, the test has them polled:
//
//	for recv.Ups == 0 && (a.Clock.Turn() || a.Clock.Poll()) {
//	}
//
// All calls but [Loop.Post] and [Host.Logf] belong to the test's goroutine, as all calls of a
// module do. Nothing happens except when the test has the loop run.
package btltest
