// Package workload has the programs by which transports are compared: PingPong, HOL
// (head-of-line blocking), Burst (computation and communication in turn) and Farm,
// the Bulk Processor Farm of the thesis "SCTP-based middleware for MPI" (2005). Each
// runs on all ranks of a world, checks every byte that it receives, and returns what
// rank 0 has measured.
//
// Who starts ranks gives each of them a [Spec] as JSON, a workload's name and the
// parameters that are not to be as [Kinds] has them, and gets an [Outcome] as JSON from
// rank 0:
//
//	{"name": "farm", "parameters": {"tasks": 500, "ordering": "relaxed"}}
package workload
