// Package pmi speaks PMI-1, the protocol by which the processes of a parallel
// job learn who they are and exchange a few values at start: both sides of it,
// a [Client] and a [Server].
//
// PMI-1 is a line protocol over a stream socket that a launcher leaves open in
// each process it starts. A line is a command and its arguments:
//
//	cmd=put kvsname=job key=address/0 value=10.0.0.1:4711
//
// The client asks, one request at a time, and the server answers with one line
// (abort alone is not answered). Flux RFC 13 specifies it; what MPICH's Hydra
// and Slurm do differently is noted where it matters.
//
// Nothing here trusts the other side: a line has a bounded length, a number a
// bounded value, and what does not parse ends the conversation with an error
// that shows it.
package pmi
