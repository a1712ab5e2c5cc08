// Package interop has tests of the stacks behind package stack against peers that nobody here has written:
// pion/sctp, usrsctp, and the kernel's SCTP in UDP (RFC 6951). A relay between the two loses packets.
//
// The table of peer, role and feature, for each stack of ours:
//
//	STRANDTEST_CI=1 go test ./btl/sctp/internal/interop -run TestTable -v
package interop
