//go:build !linux

package compare

import (
	"errors"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// Emulate needs Linux.
func Emulate([][]emulate.Network, int, string) (Ground, error) {
	return nil, errors.New("networks of hosts can be built on Linux only")
}
