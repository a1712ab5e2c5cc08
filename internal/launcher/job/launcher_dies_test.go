//go:build linux || freebsd

package job

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/transcript"
)

func TestRanksEndWithTheirLauncher(t *testing.T) { killLauncher(t, "launcher", 2) }

// killLauncher kills a launcher whose ranks have said the numbers of so many processes.
func killLauncher(t *testing.T, role string, processes int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	out := transcript.New()
	launcher := exec.Command(self)
	launcher.Env = append(os.Environ(), roleEnv+"="+role)
	launcher.Stdout, launcher.Stderr = out, out
	require.NoError(t, launcher.Start())
	out.Await(t, "pid", processes)
	require.NoError(t, launcher.Process.Kill())
	require.Error(t, launcher.Wait())
	requireGone(t, out.String(), processes)
}
