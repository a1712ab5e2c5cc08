// Package kerneltest has tests of whole jobs, with a process for each rank, over
// the SCTP of the kernel. They run in the virtual machine of make test-kernel, most
// of them on hosts of a test network there (package nettest).
package kerneltest
