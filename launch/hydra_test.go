package launch

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// mpiexec runs this test binary as a job under MPICH's launcher.
func mpiexec(t *testing.T, role string, args ...string) (output string, err error) {
	t.Helper()
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, hydra, append(args, self)...)
	// The race detector has a process sleep for a second before it exits.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err = cmd.Run()
	require.NoError(t, ctx.Err(), "hangs: %s", &both)
	return both.String(), err
}

func TestUnderHydra(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{
			"one host", "rank 0 of 4 by hydra,rank 1 of 4 by hydra,rank 2 of 4 by hydra,rank 3 of 4 by hydra",
			[]string{"-n", "4"},
		},
		{
			"two hosts", "rank 0 of 4 by hydra,rank 1 of 4 by hydra,rank 2 of 4 by hydra,rank 3 of 4 by hydra",
			[]string{"-launcher", "fork", "-hosts", "a:2,b:2", "-n", "4"},
		},
		{
			"by port", "rank 0 of 2 by hydra,rank 1 of 2 by hydra",
			[]string{"-pmi-port", "-n", "2"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			output, err := mpiexec(t, "exchange", tc.args...)
			require.NoError(t, err, output)
			lines := strings.Split(strings.TrimSpace(output), "\n")
			slices.Sort(lines)
			assert.Equal(t, strings.Split(tc.want, ","), lines)
		})
	}
}

func TestAbortUnderHydra(t *testing.T) {
	output, err := mpiexec(t, "abort", "-n", "3")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, output)
	assert.Equal(t, 7, exit.ExitCode(), output)
	// Whether Hydra passes the message on is a matter of time: TestAbort.
}
