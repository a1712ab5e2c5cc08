// Package local starts the ranks of a job on this host, as "strand run" does:
// it serves PMI-1 to them over inherited sockets, forwards their output line
// by line, and ends what is left when one of them fails.
//
// Each rank leads a process group of its own. What it leaves behind in that
// group ends with it, and with its launcher, whatever ends that one: on Linux and FreeBSD the
// kernel ends the rank, on Linux also what the rank has started, but for the moment in which it starts, as
// long as something in its group has kept descriptor 5 open; a rank that has joined a world notices that its launcher is gone.
//
// The launcher goes on whether or not anybody reads its output, and never takes a terminal's
// input that is not its to take.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package local
