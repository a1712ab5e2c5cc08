// Package mem is a transport between the ranks of one process: the reference
// that the conformance suite is tested with, and the shortest transport to read.
//
// Each module works in its own rank's loop alone. What it has to say to another
// it posts there; nothing is shared but the hub that finds a module by its
// address.
package mem
