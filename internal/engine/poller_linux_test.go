package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A set that Go's own poller has not taken is an error from the beginning, and not a background goroutine that never sleeps.
func TestWhatCanNotBeAwaited(t *testing.T) {
	plain, err := os.Create(filepath.Join(t.TempDir(), "file")) // which epoll refuses
	require.NoError(t, err)
	defer plain.Close()
	_, err = awaited(plain)
	require.ErrorIs(t, err, os.ErrNoDeadline)

	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	defer reader.Close()
	_, err = awaited(reader)
	require.NoError(t, err)
}
