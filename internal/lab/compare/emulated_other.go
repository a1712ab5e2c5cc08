//go:build !linux

package compare

import (
	"context"
	"errors"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// Emulate needs Linux.
func Emulate(context.Context, [][]emulate.Network, int, string) (Ground, error) {
	return nil, errors.New("networks of hosts can be built on Linux only")
}
