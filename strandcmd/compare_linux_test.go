package strandcmd

import (
	"bytes"
	"errors"
	"io"
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
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/test/need"
)

// asNobody in the environment has this program become an ordinary user first. Its value may be a
// file of /proc/sys/user: then the user may have no namespaces of that kind.
const asNobody = "STRAND_LAUNCH_TEST_NOBODY"

const nobody = 65534

// becomeNobody does what asNobody says.
func becomeNobody() {
	limit := os.Getenv(asNobody)
	if limit == "" {
		return
	}
	_ = os.Unsetenv(asNobody)
	var err error
	if limit != "unlimited" {
		err = os.WriteFile("/proc/sys/user/"+limit, []byte("0"), 0o644)
	}
	err = errors.Join(err, syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody),
		unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) // as after starting a program
	if err != nil {
		panic(err)
	}
}

// theirFolder is a folder that an ordinary user may write to, and that lies below no folder
// closed to that user.
func theirFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "compare")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	return dir
}

// Who is not the superuser gets networks in a user namespace.
func TestCompareWithoutTheSuperuser(t *testing.T) {
	t.Parallel()
	need.Users(t)
	dir := theirFolder(t)
	cmd := strandProcess(t, "compare", "--btl", "tcp", "--loss", "0,5", "--delay", "0s", "--runs", "1", "--workload", smallComparison, "--out", dir)
	cmd.Env = append(cmd.Env, asNobody+"=unlimited")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	r, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	need.That(t, r.Links.Kind != results.Loopback, "needs user namespaces: %s", out)
	for _, c := range r.Cells {
		require.Len(t, c.Runs, 1)
		assert.Empty(t, c.Runs[0].Error)
		assert.Positive(t, c.Runs[0].Network.Delivered)
	}
	info, err := os.Stat(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	owner, _ := info.Sys().(*syscall.Stat_t)
	assert.EqualValues(t, nobody, owner.Uid)
}

// Where user namespaces are forbidden, the user is told what forbids them, and gets the results
// that can be had.
func TestCompareWhereNamespacesAreForbidden(t *testing.T) {
	need.Users(t)
	dir := theirFolder(t)
	cmd := netspace.Bind(strandProcess(t, "compare", "--btl", "tcp", "--loss", "0,1", "--runs", "1", "--workload", smallComparison, "--out", dir))
	cmd.Env = append(cmd.Env, asNobody+"=max_user_namespaces")
	all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
	// A user namespace of its own, whose limits can be set without touching the machine's.
	cmd.SysProcAttr.Cloneflags, cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = unix.CLONE_NEWUSER, all, all
	cmd.SysProcAttr.GidMappingsEnableSetgroups = true
	out, err := cmd.CombinedOutput()
	need.That(t, cmd.ProcessState != nil, "needs user namespaces: %v", err)
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "strand compare: no networks of its own for this user (65534): ")
	assert.Contains(t, string(out), "user.max_user_namespaces is 0: as the superuser, sysctl -w user.max_user_namespaces=15000")
	assert.Contains(t, string(out), "without, there are results over the loopback of this host only, and none with loss")
	r, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	assert.Equal(t, results.Loopback, r.Links.Kind)
	assert.Contains(t, r.Links.Why, "max_user_namespaces")
	assert.Empty(t, r.Cells[0].Runs[0].Error)
	assert.Contains(t, r.Cells[1].Unable, "max_user_namespaces")
}

// Ctrl-C keeps the results so far and leaves nothing else behind, over networks and over the
// loopback.
func TestCompareInterrupted(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"networks": {"--delay", "0s"}, "loopback": {"--loopback"}} {
		t.Run(name, func(t *testing.T) {
			if name == "networks" {
				s, err := netspace.New("probe")
				need.That(t, err == nil, "needs namespaces: %v", err)
				_ = s.Close()
			}
			interrupt(t, flags...)
		})
	}
}

// Two comparisons never write into one folder at a time, not even with --overwrite: it would have the results of one and the page of
// the other.
func TestCompareWhereAnotherOneWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := endless(t, dir, "--loopback")
	require.NoError(t, first.Start())
	awaitRun(t, dir)
	second := func() ([]byte, error) {
		return strandProcess(t, "compare", "--loopback", "--btl", "tcp", "--loss", "0", "--runs", "1", "--workload", smallComparison, "--overwrite", "--out", dir).CombinedOutput()
	}
	out, err := second()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	assert.Equal(t, 2, exit.ExitCode())
	assert.Contains(t, string(out), "--out "+dir+": another strand compare writes its results there: give another folder")
	require.NoError(t, first.Process.Signal(syscall.SIGTERM))
	require.ErrorAs(t, first.Wait(), &exit)
	r, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	assert.Equal(t, 10000, r.Runs, "of the first")
	out, err = second()
	require.NoError(t, err, "%s", out)
}

// Ctrl-C counts from the beginning, while it is found out which networks can be had.
func TestCompareInterruptedEarly(t *testing.T) {
	t.Parallel()
	s, err := netspace.New("probe")
	need.That(t, err == nil, "needs namespaces: %v", err)
	_ = s.Close()
	dir := filepath.Join(t.TempDir(), "results")
	cmd := endless(t, dir, "--delay", "0s", "--networks", "4")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	var exit *exec.ExitError
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	require.Eventually(t, func() bool { return holdsNetworks(cmd.Process.Pid) || len(ended) > 0 }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.ErrorAs(t, <-ended, &exit, out.String())
	assert.Equal(t, 128+int(syscall.SIGINT), exit.ExitCode(), out.String())
	assert.Contains(t, out.String(), "ended by SIGINT")
}

// holdsNetworks reports whether a child of a process has networks of hosts open.
func holdsNetworks(parent int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		_, rest, found := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); err != nil || !found || len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		open, _ := filepath.Glob(filepath.Join(filepath.Dir(stat), "fd", "*"))
		for _, fd := range open {
			if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "net:[") {
				return true
			}
		}
	}
	return false
}

// A growing table needs a terminal whose cursor can be moved.
func TestCompareOnADumbTerminal(t *testing.T) {
	_, far := openTerminal(t)
	for name, grows := range map[string]bool{"xterm": true, "": true, "dumb": false} {
		t.Setenv("TERM", name)
		cmd := newCompareCommand()
		cmd.SetErr(far)
		assert.Equal(t, grows, newCompareShow(cmd, &compareFlags{}, nil).live != nil, name)
	}
}

// If the page can not be written, the command still tells that it was interrupted, and shows what
// was measured.
func TestCompareInterruptedWithoutAPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, pageFile, "in the way"), 0o700))
	cmd := endless(t, dir, "--loopback")
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	awaitRun(t, dir)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 128+int(syscall.SIGINT), exit.ExitCode())
	assert.Contains(t, out.String(), "Ping-pong: throughput")
}

// endless is a comparison that takes too long for a test.
func endless(t *testing.T, dir string, flags ...string) *exec.Cmd {
	args := []string{"compare", "--btl", "tcp", "--loss", "0", "--runs", "10000", "--workload", smallComparison, "--out", dir}
	return strandProcess(t, append(args, flags...)...)
}

// awaitRun waits until a folder has results of a run.
func awaitRun(t *testing.T, dir string) {
	require.Eventually(t, func() bool {
		r, err := results.Load(filepath.Join(dir, resultsFile))
		return err == nil && len(r.Cells[0].Runs) > 0
	}, time.Minute, 20*time.Millisecond)
}

func interrupt(t *testing.T, flags ...string) {
	dir := t.TempDir()
	cmd := endless(t, dir, flags...)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	// All that it starts inherits some of these: the first ones are taken for other things.
	for range 8 {
		cmd.ExtraFiles = append(cmd.ExtraFiles, write)
	}
	require.NoError(t, cmd.Start())
	write.Close()
	awaitRun(t, dir)

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 128+int(syscall.SIGINT), exit.ExitCode())
	require.NoError(t, read.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = io.Copy(io.Discard, read)
	require.NoError(t, err, "a process is left, and with it its namespaces")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{pageFile, resultsFile}, names)
	r, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	assert.True(t, r.Interrupted)
	assert.NotEmpty(t, r.Cells[0].Runs)
}
