//go:build !linux || !(amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"errors"
	"runtime"
)

// Check returns an [*UnavailableError]: only Linux's SCTP is used.
func Check() error {
	return &UnavailableError{
		Err:    errors.New("only that of Linux on amd64, arm, arm64 and riscv64 is used, and this is " + runtime.GOOS + "/" + runtime.GOARCH),
		Remedy: "btl_sctp_stack=user does without",
	}
}
