package sealed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What signals interrupt is tried again until all is there, and not for ever. Other errors are told at once.
func TestAllocateInterrupted(t *testing.T) {
	const size = 2*allocatedAtOnce + 1
	there, calls := int64(0), 0
	every := func(n int, err error) func(from, n int64) error {
		there, calls = 0, 0
		return func(from, bytes int64) error {
			if calls++; calls%n == 0 {
				return err
			}
			assert.Equal(t, there, from)
			there += bytes
			return nil
		}
	}
	require.NoError(t, allocate(size, every(2, unix.EINTR)))
	assert.EqualValues(t, size, there)
	assert.Equal(t, 5, calls)
	assert.Equal(t, unix.EINTR, allocate(size, every(1, unix.EINTR)))
	assert.Equal(t, mostInterrupted, calls)
	assert.Equal(t, unix.ENOSPC, allocate(size, every(2, unix.ENOSPC)))
	assert.Equal(t, 2, calls)
}
