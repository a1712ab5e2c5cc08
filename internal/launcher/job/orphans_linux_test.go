package job

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// The processes that ranks have started end with the launcher too.
func TestChildrenEndWithTheLauncher(t *testing.T) {
	for range need.Times(3, 1000) {
		killLauncher(t, "launcher of shells", 6)
	}
}

// A rank in a group of its own ends with the launcher too, though it does nothing but compute.
func TestRunawaysEndWithTheLauncher(t *testing.T) {
	for range need.Times(1, 300) {
		killLauncher(t, "launcher of runaways", 2)
	}
}

// Programs that use Strand end at whatever moment the launcher is killed, also below shells and
// in groups of their own. A group is tied to the launcher only just after its rank has started.
func TestLauncherIsKilledAtAnyTime(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range need.Times(5, 2000) {
		mark := fmt.Sprintf("LOCAL_TEST_MARK=%d.%d", os.Getpid(), trial)
		launcher := exec.Command(self)
		launcher.Env = append(os.Environ(), roleEnv+"=launcher of runaways", mark)
		require.NoError(t, launcher.Start())
		pause := time.NewTimer(time.Duration(random.Int64N(int64(20 * time.Millisecond))))
		<-pause.C
		require.NoError(t, launcher.Process.Kill())
		_ = launcher.Wait()
		require.Eventually(t, func() bool { return len(marked(mark)) == 0 }, 10*time.Second, time.Millisecond, "trial %d: %v", trial, marked(mark))
	}
}

// marked are the living processes that have that in their environment.
func marked(mark string) (pids []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range entries {
		environ, err := os.ReadFile(filepath.Join(dir, "environ")) // a zombie has none
		if err == nil && bytes.Contains(environ, []byte(mark+"\x00")) {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}

// Strand there hears nothing of SIGKILL. The shell removes what was brought there.
func TestNothingIsLeftOfStrandKilledElsewhere(t *testing.T) {
	c, out, folder := pushedScript(t, `echo up; exec sleep 600`)
	c.Elsewhere[1].Host.Carry = true
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 4)
	shell := pidOf(t, folder, "b")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", shell, shell))
	require.NoError(t, err)
	all := strings.Fields(string(children)) // strand, behind what waited for it to come
	require.NotEmpty(t, all)
	there, err := strconv.Atoi(all[len(all)-1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(there, syscall.SIGKILL))
	require.Error(t, <-done)
	requireNothingLeft(t)
}

// A host of another kind says so.
func TestHostOfAnotherKind(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	program, err := os.ReadFile(c.Program)
	require.NoError(t, err)
	program[18] ^= 0x80 // whose machine code it is
	foreign := filepath.Join(t.TempDir(), "strand")
	require.NoError(t, os.WriteFile(foreign, program[:4096], 0o700))
	t.Setenv("TMPDIR", t.TempDir())
	c.Elsewhere[1].Host.Program, c.Elsewhere[1].Host.Carry = foreign, true
	assert.Regexp(t, `(?s)host b: .*exit status 126; strand, a program for linux/\w+, was to be brought there, .*\n.*[Ff]ormat error`, Run(t.Context(), c))
	requireNothingLeft(t)
}
