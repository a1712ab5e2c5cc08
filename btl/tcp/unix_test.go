//go:build unix

package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func dup(t testing.TB, fd int) int {
	fd, err := unix.Dup(fd)
	require.NoError(t, err)
	return fd
}
