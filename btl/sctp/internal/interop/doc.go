// Package interop has tests of the stacks behind package stack against peers that nobody here has written:
// pion/sctp, usrsctp, and the kernel's SCTP in UDP (RFC 6951). A relay between the two loses packets.
//
// The table of peer, role and feature, for each stack of ours, and its parts: the peers that run anywhere, and the kernel:
//
//	docs/results/interop.sh
//	STRANDTEST_CI=1 go test ./btl/sctp/internal/interop -run TestTable -v
//	go run ./tools/kernelvm -- ./btl/sctp/internal/interop -run TestKernelTable -v
package interop
