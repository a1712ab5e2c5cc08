package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where the kernel says that there is no such file, though there is, what is missing is named.
func TestRefusalOfWhatHasNoStarter(t *testing.T) {
	for content, want := range map[string]string{
		"#!/nowhere/python3 -u\nprint()\n": "its interpreter, /nowhere/python3, is not on this host",
		"#!/bin/sh\r\necho\r\n":            "its lines end with CR LF, and so its interpreter is not found; to mend it: sed -i 's/\\r$//' ",
	} {
		path := filepath.Join(t.TempDir(), "program")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700)) //nolint:gosec // a program is executable
		err := Refusal(path, exec.CommandContext(t.Context(), path).Start())
		var refused *ProgramError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, notExecutable, refused.ExitStatus())
		assert.Contains(t, err.Error(), want)
	}
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("\x7fELF"), 0o600))
	assert.True(t, strings.HasPrefix(missingStarter(path), "the loader of shared libraries"))
	assert.Empty(t, missingStarter(path+"s"))
}

// Who names a source file is not told to make it executable.
func TestRefusalOfSource(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("main.go", []byte("package main\n"), 0o600))
	for _, name := range []string{"main.go", "./main.go"} {
		_, err := Find(name)
		assert.ErrorContains(t, err, `is source; build it first (go build -o main main.go) and name ./main`, name)
	}
	require.NoError(t, os.Chmod("main.go", 0o700)) //nolint:gosec // as who was told to
	assert.ErrorContains(t, Refusal("./main.go", exec.CommandContext(t.Context(), "./main.go").Start()), "is source; build it first")
}

// What strand run adds to the environment may be what makes it too long.
func TestRefusalOfTooMuchToPassOn(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/bin/sh")
	cmd.Args = slices.Repeat([]string{strings.Repeat("x", 100_000)}, 100)
	err := Refusal("/bin/sh", cmd.Start())
	assert.EqualError(t, err, `program "/bin/sh": its arguments and environment are too long for this system: give it less, or unset what it does not need (env -u NAME strand run …)`)
}
