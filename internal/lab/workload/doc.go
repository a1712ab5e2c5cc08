// Package workload has the programs by which transports are compared: PingPong, HOL
// (head-of-line blocking), Burst (computation and communication in turn) and Farm,
// the Bulk Processor Farm of the thesis "SCTP-based middleware for MPI" (2005). Each
// runs on all ranks of a world, checks every byte that it receives, and returns what
// rank 0 has measured.
//
// Each rank is given a [Spec] as JSON: a workload's name, and the parameters that differ from
// those of its [Kinds]. Rank 0 returns an [Outcome] as JSON:
//
//	{"name": "farm", "parameters": {"tasks": 500, "ordering": "relaxed"}}
package workload
