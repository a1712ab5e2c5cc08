package strandcmd

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// asCommand in the environment makes this test program the command strand. Its
// prefix is that of the variables which are no parameters.
const asCommand = "STRAND_LAUNCH_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		becomeNobody()
		Main()
	}
	os.Exit(m.Run())
}

// strandProcess is the command as a process of its own, for what starts itself.
func strandProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}
