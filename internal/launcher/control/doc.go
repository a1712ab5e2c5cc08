// Package control is the channel between "strand run" and each of its ranks for what PMI-1 has
// no words for. The launcher tells a rank that another one has failed, and asks it for a report.
// A rank hands over warnings, so that what many say is shown once. A rank that can not connect
// to another one has the launcher ask that one to connect instead, and hears if it has left.
//
// It is a stream socket of its own, which a rank inherits beside PMI_FD. The rank finds it by a
// variable that stock PMI-1 clients do not look for ([Variable]), so their conversation is not
// touched. Messages are lines of JSON. Either side passes over members that it does not know:
// the launcher and the program may be of different versions.
//
// A [Line] is the launcher's end, a [Member] the rank's. Nothing is sent until something
// happens. The launcher does not wait for a rank to read: what the rank does not read waits in
// its line and goes with it. A rank that warns or calls waits for the launcher only for a
// bounded time.
package control
