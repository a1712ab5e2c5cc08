// Package local runs a rank of a job as a process of this host.
//
// Each rank leads a process group of its own. What it leaves behind in that group ends with it.
// The rank also ends with the process that has started it, whatever ends that:
//
//   - On Linux and FreeBSD the kernel ends the rank.
//   - On Linux the kernel also ends what the rank has started, as long as a process of its group
//     keeps descriptor 5 open, unless the starter ends in the moment in which the rank starts.
//   - Everywhere, a rank that has joined a world notices that its launcher is gone.
package local
