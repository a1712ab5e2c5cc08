package remote

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A shell finds a program whatever its path is.
func TestPathsForAShell(t *testing.T) {
	for _, name := range []string{"strand", "my strand", "it's (mine); $1 & yours"} {
		program := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho started with $*\n"), 0o700))
		out, err := exec.CommandContext(t.Context(), "sh", "-c", word(program)+" an argument").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, "started with an argument\n", string(out))
	}
	assert.Equal(t, "~/bin/strand", word("~/bin/strand"))
}

func TestWordsOfAShell(t *testing.T) {
	for want, h := range map[string]Host{
		"ssh -x a /bin/strand run-elsewhere":              {Name: "a", Shell: []string{"ssh", "-x"}, Program: "/bin/strand"},
		"kubectl exec -i a -- sh -c strand run-elsewhere": {Name: "a", Shell: []string{"kubectl", "exec", "-i", "{host}", "--", "sh", "-c", "{command}"}, Program: "strand"},
		"/bin/strand run-elsewhere":                       {Name: "localhost", Program: "/bin/strand"},
		"/bin/strand run-elsewhere --host-timeout 2s":     {Name: "localhost", Program: "/bin/strand", Timeout: 2 * time.Second},
	} {
		words, err := h.command()
		require.NoError(t, err)
		text := ""
		for i, w := range words {
			if i > 0 {
				text += " "
			}
			text += w
		}
		assert.Equal(t, want, text)
	}
}

// Strand is being brought to a host when its launcher is cut off. What has come does not stay, nor does who waits for more.
func TestLauncherFallsSilentWhileStrandIsBrought(t *testing.T) {
	program := filepath.Join(t.TempDir(), "strand")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	words, err := Host{Name: "a", Shell: []string{"sh", "-c", "{command}"}, Program: program, Carry: true, Patience: time.Millisecond}.command()
	require.NoError(t, err)
	in, end, err := os.Pipe()
	require.NoError(t, err)
	defer end.Close()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	temporary := t.TempDir()
	cmd.Stdin, cmd.Env = in, append(os.Environ(), "TMPDIR="+temporary)
	require.Error(t, cmd.Run())
	require.NoError(t, in.Close())
	_, err = end.WriteString("more")
	require.ErrorIs(t, err, syscall.EPIPE, "somebody still reads")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}
