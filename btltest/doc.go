// Package btltest has what the unit tests of a transport need around it: a [Loop] with a
// clock that the test moves, a [Host], and a [Receiver] that keeps what it is told. Whether a
// transport keeps the contract is for package conformance to say; this is for tests of its
// parts, and of what happens only at a certain moment.
//
//	h := btltest.NewHost(t, 0, 2, Component{})
//	m := h.Open()                             // the module, closed at the end of the test
//	recv := h.NewReceiver(1)
//	ep, err := m.Connect(peer, path, recv)
//	ep.Send(&btl.Frame{Header: []byte("h")}, 0)
//	h.Clock.Until(t, "a connection", func() bool { return recv.Ups == 1 })
//
// All calls but [Loop.Post] and [Host.Logf] belong to one goroutine, the test's, as all calls
// of a module do. Nothing happens but when the test has the loop run.
package btltest
