// Package control is the channel between "strand run" and each of its ranks for
// what PMI-1 has no words for: the launcher tells that a rank has failed and asks
// how things stand; a rank hands over warnings, so that what many say is shown
// once, and has one that it can not connect to asked to connect to it.
//
// It is a stream socket of its own, which a rank inherits beside PMI_FD and finds
// by a variable that stock PMI-1 clients do not look for ([Variable]); their
// conversation is not touched. Messages are lines of JSON. Either side passes over
// members that it does not know, so that the launcher and the program may be of
// different versions.
//
// A [Line] is the launcher's end, a [Member] the rank's. Nothing is sent until
// something happens, and neither end waits for the other: what a rank does not read
// waits in its line and goes with it.
package control
