//go:build linux || freebsd

package local

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRanksEndWithTheirLauncher(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	out := newOutput()
	launcher := exec.Command(self)
	launcher.Env = append(os.Environ(), roleEnv+"=launcher")
	launcher.Stdout, launcher.Stderr = out, out
	require.NoError(t, launcher.Start())
	out.await(t, "pid", 2)
	require.NoError(t, launcher.Process.Kill())
	require.Error(t, launcher.Wait())
	requireGone(t, out.String(), 2)
}
