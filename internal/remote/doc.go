// Package remote runs ranks of a comparison on other hosts, which it reaches by a remote
// shell such as ssh.
//
// For each such rank there is a process here, the carrier, which package internal/launcher/local
// takes for the rank: [Carry]. It has the remote shell start the same program there, which
// calls [Answer]. The shell's standard input and output carry what the rank and its launcher
// say to each other, and what the rank tells. So nothing listens anywhere, and the job's
// secret travels by the shell's channel only.
//
// When either side or the shell ends, the other side ends too.
//
// # What goes over the wire
//
// The program there begins, with an [Introduction] on a line of JSON. The carrier answers
// with an order on another one. From then on both send frames: a byte that says what it is
// part of, four bytes with its length, least significant first, and at most 64 KB. A frame of
// no bytes is the end of that part.
package remote
