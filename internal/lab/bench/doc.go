// Package bench measures messages between two processes, or several pairs of them: how long one takes
// (ping-pong), how many bytes (stream) and how many messages (rate) pass in a
// second; and collective calls of all ranks. The columns are those of the OSU micro-benchmarks, and so is the shape
// of the loops.
//
// A comparison ([Compare]) runs Strand and its peers in short blocks that
// alternate: two raw sockets that spin, Open MPI, MPICH. Each of them is a pair
// of processes that waits for orders in a blocking read, so that the pairs which
// are not measured use no processor. What counts is the lower quartile of the
// blocks: on a machine that does other things too it hardly moves, where a mean
// is all noise and a minimum is luck.
//
// This package stands above the root package, unlike the other internal ones:
// it is a program, split from its command line so that it can be tested.
package bench
