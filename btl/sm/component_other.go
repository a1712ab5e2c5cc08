//go:build !linux

package sm

import (
	"runtime"

	"github.com/strandmp/strand/btl"
)

// open says that there is no shared memory: other systems can not seal it, and a peer that
// shrinks it would kill this process (SIGBUS).
func open(btl.Host) ([]btl.Module, error) {
	return nil, &btl.UnavailableError{Component: "sm", Reason: "shared memory that is sealed (memfd) exists on Linux only, this is " + runtime.GOOS}
}
