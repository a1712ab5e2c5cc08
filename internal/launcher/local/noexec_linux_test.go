package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
)

// What may not be run for the sake of its file system is told apart from what may not be run itself.
func TestRefusalOfAFileSystem(t *testing.T) {
	need.Root(t)
	path := filepath.Join(t.TempDir(), "program")
	var refused error
	require.NoError(t, netspace.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
			return err
		}
		if err := unix.Mount("tmpfs", filepath.Dir(path), "tmpfs", unix.MS_NOEXEC, ""); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program is executable
			return err
		}
		_, refused = Find(path)
		return nil
	}))
	var program *ProgramError
	require.ErrorAs(t, refused, &program)
	assert.Equal(t, notExecutable, program.ExitStatus())
	assert.EqualError(t, refused, `program "`+path+`": is in a file system that is mounted noexec; put it elsewhere`)
}
