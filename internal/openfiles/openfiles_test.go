package openfiles

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestExplain(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	opening := &os.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
	err := Explain(fmt.Errorf("rank 3: %w", opening))
	assert.EqualError(t, err, fmt.Sprintf("rank 3: %v (this process may have %d open files: raise the limit with ulimit -n)", opening, limit.Cur))
	assert.ErrorIs(t, err, syscall.EMFILE)

	assert.ErrorContains(t, Explain(syscall.ENFILE), "fs.file-max")
	other := errors.New("other")
	assert.Equal(t, other, Explain(other))
	assert.NoError(t, Explain(nil))
}
