// Package local starts the ranks of a job on this host, as "strand run" does:
// it serves PMI-1 to them over inherited sockets, forwards their output line
// by line, and ends what is left when one of them fails.
//
// Each rank leads a process group of its own. What it leaves behind in that
// group ends with it, and on Linux and FreeBSD a rank ends with its launcher
// whatever ends that one.
package local
