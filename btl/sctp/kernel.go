package sctp

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/kernel"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
)

// openKernel opens the kernel's SCTP, or says why it can not be had.
func openKernel(cfg stack.Config) (stack.Stack, error) {
	s, err := kernel.Open(cfg)
	if none, ok := errors.AsType[*sctpsock.UnavailableError](err); ok {
		return nil, &btl.UnavailableError{Component: "sctp", Reason: fmt.Sprintf("no kernel SCTP: %v", none.Err), Remedy: none.Remedy}
	}
	return s, err
}
