package sctp

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// openKernel says why the kernel's SCTP can not be had.
func openKernel(stack.Config) (stack.Stack, error) {
	reason := "the kernel has SCTP, which this build does not use"
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_SEQPACKET, unix.IPPROTO_SCTP)
	if err != nil {
		reason = fmt.Sprintf("no kernel SCTP: socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP): %v", err)
	} else {
		unix.Close(fd)
	}
	return nil, &btl.UnavailableError{Component: "sctp", Reason: reason,
		Remedy: "modprobe sctp where the kernel has it as a module, or " + pStack + "=user"}
}
