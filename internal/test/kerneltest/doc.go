// Package kerneltest has tests of whole jobs, with a process for each rank, over
// the SCTP of the kernel. They run in the virtual machine of make test-kernel, most
// of them on hosts of a test network there (package nettest). Those of the user stack
// that do the same need no such kernel and run anywhere.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package kerneltest
