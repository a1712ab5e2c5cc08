//go:build !linux

package sm

import (
	"runtime"

	"github.com/strandmp/strand/btl"
)

// open says that there is none: elsewhere memory can not be sealed, and a peer that shrinks it
// would kill us (SIGBUS).
func open(btl.Host) ([]btl.Module, error) {
	return nil, &btl.UnavailableError{Component: "sm", Reason: "shared memory that is sealed (memfd) exists on Linux only, this is " + runtime.GOOS}
}
