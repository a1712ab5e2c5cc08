//go:build linux

package netspace_test

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
)

func TestIsolateReturnsTheStatus(t *testing.T) {
	requireIsolation(t)
	requireStatus(t, 7, "exit 7")
	assert.Equal(t, "pid 1\n", requireStatus(t, 0, "die"), "it is the first process, which only its parent can kill")
}

// Who is not the superuser gets networks in a user namespace.
func TestIsolateWithoutTheSuperuser(t *testing.T) {
	need.Users(t)
	out, status := perform("stranger")
	need.That(t, status == 0, "needs user namespaces: %s", out)
}

func TestSignalsArePassedOn(t *testing.T) {
	requireIsolation(t)
	assert.Equal(t, 3, interrupted(t, "wait for SIGTERM", unix.SIGTERM))
}

// A signal that comes before the program handles signals ends it as it would anywhere else.
func TestSignalsThatNobodyHandles(t *testing.T) {
	requireIsolation(t)
	assert.Equal(t, 128+int(unix.SIGINT), interrupted(t, "handle no signal", unix.SIGINT))
}

// interrupted sends a signal to who plays a part, and returns the exit status.
func interrupted(t *testing.T, role string, s syscall.Signal) (status int) {
	t.Helper()
	cmd := player(role)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1)) // it is ready
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(s))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	return exit.ExitCode()
}

// hold starts a process that leaves things behind. What it leaves holds the write
// end of the pipe, so that read ends when none is left.
func hold(t *testing.T) (cmd *netspace.Cmd, read *os.File) {
	cmd = player("leave things behind")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { read.Close() })
	cmd.Stdout = write
	require.NoError(t, cmd.Start())
	write.Close()
	require.NoError(t, read.SetReadDeadline(time.Now().Add(watchdog)))
	return cmd, read
}

func requireNothingLeft(t *testing.T, read *os.File) {
	t.Helper()
	_, err := io.Copy(io.Discard, read)
	require.NoError(t, err, "something still holds the output")
}

func TestNothingSurvivesTheParent(t *testing.T) {
	requireIsolation(t)
	for _, signal := range []syscall.Signal{unix.SIGKILL, unix.SIGTERM} {
		cmd, read := hold(t)
		_, err := read.Read(make([]byte, 1)) // the grandchild is on its host, in a session of its own
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(signal))
		require.Error(t, cmd.Wait())
		requireNothingLeft(t, read)
	}
}

// Nothing stays behind, at whatever moment the parent is killed.
func TestNothingSurvivesTheParentWhileItStarts(t *testing.T) {
	requireIsolation(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range need.Times(20, 2000) {
		cmd, read := hold(t)
		pause := time.NewTimer(time.Duration(random.Int64N(int64(30 * time.Millisecond))))
		<-pause.C
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		requireNothingLeft(t, read)
	}
}
