//go:build !linux || !(amd64 || arm || arm64 || riscv64)

package kernel

import (
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
)

// Open says that there is no SCTP in this system's kernel.
func Open(stack.Config) (stack.Stack, error) { return nil, sctpsock.Check() }
