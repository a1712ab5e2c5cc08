// Package trace records what a rank does with its messages, and makes a picture of a whole job of
// it, for Perfetto and chrome://tracing: strand run --trace.
//
// A rank writes [Event]s of one size into a ring ([Recorder]), which is memory that its launcher has
// given it: a file without a name, mapped. So nothing is said while the program runs, the oldest events
// make room for new ones, and what a rank has recorded is there whatever ends it. The launcher reads
// the rings when the ranks have ended ([Read]), brings the clocks of several hosts together by the
// messages between them, and writes one page of JSON ([Write]).
//
// The message layer calls Record at the few places where something happens to a message, and only
// if it has a Recorder.
package trace
