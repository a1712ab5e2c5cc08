// Package workload has the programs by which transports are compared: PingPong, HOL
// (head-of-line blocking) and Farm, the Bulk Processor Farm of the thesis "SCTP-based
// middleware for MPI" (2005). Each runs on all ranks of a world, checks every byte
// that it receives, and returns what rank 0 has measured.
package workload
