// Package nettest runs the processes of a parallel program on hosts of a test
// network, as "strand run" does on one host: its launcher, its way to give each
// process its rank, real processes, and networks that are real to them.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package nettest
