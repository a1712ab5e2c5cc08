//go:build linux

package testnet_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// victimEnv makes TestVictim build a network and wait to be killed.
const victimEnv = "TESTNET_TEST_VICTIM"

func TestVictim(t *testing.T) {
	if os.Getenv(victimEnv) == "" {
		return
	}
	a, _, _ := two(t, testnet.Subnet("10.1.0.0/24"))
	cmd := a.Command("sh", "-c", "sleep 300 & echo; wait")
	cmd.Stdout = os.Stdout
	require.NoError(t, cmd.Start())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestNothingSurvivesTheTestProcess(t *testing.T) {
	testnet.New(t) // or skip
	victim := self("-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimEnv+"=1")
	_, err := victim.StdinPipe()
	require.NoError(t, err)
	read, write, err := os.Pipe() // StdoutPipe's Wait would wait for sleep
	require.NoError(t, err)
	defer read.Close()
	victim.Stdout = write
	require.NoError(t, victim.Start())
	write.Close()
	_, err = read.Read(make([]byte, 1)) // the shell is on its host
	require.NoError(t, err)
	require.NoError(t, victim.Process.Kill())
	require.Error(t, victim.Wait())

	// The shell has ended with its parent, but not sleep.
	out, err := self("-test.run=^$").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, read.SetReadDeadline(time.Now().Add(watchdog)))
	_, err = io.Copy(io.Discard, read)
	require.NoError(t, err, "something still holds the output")
}

// self runs this test binary.
func self(args ...string) *netspace.Cmd {
	return netspace.Bind(exec.Command("/proc/self/exe", args...))
}

func TestCommandsEndWithTheTest(t *testing.T) {
	testnet.New(t) // or skip
	var cmd *netspace.Cmd
	t.Run("inner", func(t *testing.T) {
		cmd = testnet.New(t).Host("a").Command("sh", "-c", "echo; sleep 300")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 1)) // it is on the host now
		require.NoError(t, err)
	})
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
}

// Who is not the superuser gets networks in a user namespace.
func TestWithoutTheSuperuser(t *testing.T) {
	need.Users(t)
	testnet.New(t)
	const nobody = 65534
	cmd := self("-test.run=^(TestLink|TestFirewall|TestRate|TestResetConnections|TestHosts.*)$", "-test.v")
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	need.That(t, !strings.Contains(string(out), "--- SKIP"), "needs user namespaces: %s", out)
	assert.Equal(t, 5, strings.Count(string(out), "\n--- PASS"), "%s", out)
}
