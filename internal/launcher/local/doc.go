// Package local starts the ranks of a job on this host, as "strand run" does:
// it serves PMI-1 to them over inherited sockets, forwards their output line
// by line, and ends what is left when one of them fails.
//
// Each rank leads a process group of its own. What it leaves behind in that group ends with it.
// The rank also ends with its launcher, whatever ends the launcher:
//
//   - On Linux and FreeBSD the kernel ends the rank.
//   - On Linux the kernel also ends what the rank has started, as long as a process of its group
//     keeps descriptor 5 open, unless the launcher ends in the moment in which the rank starts.
//   - Everywhere, a rank that has joined a world notices that its launcher is gone.
//
// The launcher goes on whether or not anybody reads its output. It does not take a terminal's
// input while it is in the background.
//
// Only Strand itself imports this package. It changes with any version.
package local
