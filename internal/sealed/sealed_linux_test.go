package sealed_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/sealed"
)

// What is made passes the check, and nobody can execute it, unless the system knows no such files.
func TestMake(t *testing.T) {
	size := os.Getpagesize()
	fd, mem, err := sealed.Make("test", size, true)
	require.NoError(t, err)
	defer unix.Close(fd)
	got, err := sealed.Check(fd)
	require.NoError(t, err)
	assert.Equal(t, size, got)
	require.NoError(t, unix.Munmap(mem))
	assert.Error(t, unix.Ftruncate(fd, 0), "it could be taken away")

	known, err := unix.MemfdCreate("known", unix.MFD_NOEXEC_SEAL)
	var st unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &st))
	assert.Equal(t, err != nil, st.Mode&0o111 != 0)
	if err == nil {
		unix.Close(known)
	}
}

// Memory that may shrink is refused.
func TestUnsealed(t *testing.T) {
	fd, err := sealed.Create("test")
	require.NoError(t, err)
	defer unix.Close(fd)
	_, err = sealed.Check(fd)
	assert.ErrorIs(t, err, sealed.ErrUnsealed)
}
