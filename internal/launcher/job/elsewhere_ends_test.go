package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/test/transcript"
)

// pushedScript puts a job on hosts that is a script, brought there. Rank 0 goes on when its input ends.
func pushedScript(t *testing.T, script string) (c Config, out *transcript.Output, folder string) {
	t.Helper()
	c, out, folder = elsewhere(t, "exchange")
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	c.Program, c.Push = path, true
	t.Setenv("TMPDIR", t.TempDir())
	return c, out, folder
}

// requireNothingLeft waits until nothing is in the folder for temporary files.
func requireNothingLeft(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		left, err := os.ReadDir(os.TempDir())
		return err == nil && len(left) == 0
	}, time.Minute, 10*time.Millisecond, "what was brought there is left")
}

// An interpreter opens its script some time after it was started, and may read it to the end.
func TestPushedScript(t *testing.T) {
	c, out, _ := pushedScript(t, `echo up; read x; cat "$0" >/dev/null && echo "$PMI_RANK: read"`)
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c.Stdin = input
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 4)
	require.NoError(t, end.Close())
	require.NoError(t, <-done, "%s", out)
	for rank := range 4 {
		assert.Contains(t, out.String(), fmt.Sprintf("%d: read\n", rank))
	}
	requireNothingLeft(t)
}

// However strand there ends, as long as it hears of it, nothing is left there.
func TestNothingIsLeftElsewhere(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			c, out, folder := pushedScript(t, `echo up; exec sleep 600`)
			done := make(chan error, 1)
			go func() { done <- Run(t.Context(), c) }()
			out.Await(t, "up\n", 4)
			require.NoError(t, syscall.Kill(pidOf(t, folder, "b"), s))
			lost, is := errors.AsType[*RankError](<-done)
			require.True(t, is)
			assert.Equal(t, Lost, lost.How)
			requireNothingLeft(t)
		})
	}
}

// A host that introduces itself and does nothing more does not keep the job from being ended. Not
// even where the program is longer than what the way there holds.
func TestInterruptedWhileRanksAreStarted(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "stuck"
	signals := make(chan os.Signal, 1)
	c.Signals, c.Push, c.Verbose = signals, true, true
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "reached", 2)
	signals <- syscall.SIGINT
	interrupt, is := errors.AsType[*InterruptError](<-done)
	require.True(t, is)
	assert.True(t, interrupt.Early)
}

// Ctrl-Z while the hosts are reached is not lost: the job stops when it has ranks.
func TestStoppedWhileHostsAreReached(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTSTP
	c.Signals, c.Stdin, c.Program, c.Timeout = signals, input, "cat", 10*time.Second
	c.Suspend = func() { assert.NoError(t, end.Close()) } // for which rank 0 waits
	require.NoError(t, Run(t.Context(), c), "%s", out)
}

func TestTimeoutWhileRanksAreStarted(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "stuck"
	c.Push, c.Timeout = true, 500*time.Millisecond
	assert.ErrorContains(t, Run(t.Context(), c), "not over within --timeout 500ms and was ended, before all ranks were started")
}

// What the start takes counts: batch systems do not wait either.
func TestTimeoutCountsTheStart(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "slow" // it takes 300 ms
	c.Program, c.Args = "sleep", []string{".3"}
	c.Timeout = 500 * time.Millisecond
	assert.ErrorContains(t, Run(t.Context(), c), "not over within --timeout 500ms")
}

// Strand is being brought to a host when the job is ended: what has come of it does not stay there.
func TestInterruptedWhileStrandIsBrought(t *testing.T) {
	c, _, folder := elsewhere(t, "exchange")
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600))
	t.Setenv("TMPDIR", t.TempDir())
	c.Elsewhere[1].Host.Name, c.Elsewhere[1].Host.Carry = "starved", true
	signals := make(chan os.Signal, 1)
	c.Signals = signals
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	require.Eventually(t, func() bool {
		come, err := os.ReadDir(os.TempDir())
		return err == nil && len(come) > 0
	}, time.Minute, 10*time.Millisecond)
	signals <- syscall.SIGINT
	assert.ErrorContains(t, <-done, "before all ranks were started")
	requireNothingLeft(t)
}

// A rank need not read all of its input. Nobody else on its host fails for that.
func TestInputThatIsNotRead(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	zero, err := os.Open("/dev/zero")
	require.NoError(t, err)
	defer zero.Close()
	signals := make(chan os.Signal, 1)
	c.Stdin, c.Signals, c.Verbose = zero, signals, true
	c.Program, c.Args = "sh", []string{"-c", `[ $PMI_RANK = 0 ] && exec head -c 1000000 >/dev/null
		trap "exit 0" USR1; echo up; sleep 600 & wait`}
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 3)
	out.Await(t, "rank 0: exited with status 0\n", 1)
	signals <- syscall.SIGUSR1
	require.NoError(t, <-done, "%s", out)
}

// Ranks may write faster than anybody reads. The job can be ended all the same, and nothing is left of it.
func TestOutputThatNobodyReadsElsewhere(t *testing.T) {
	c, _, folder := elsewhere(t, "exchange")
	c.Program, c.Args = "sh", []string{"-c", "exec cat /dev/zero"}
	nobody, end, err := os.Pipe()
	require.NoError(t, err)
	defer nobody.Close()
	defer end.Close()
	signals := make(chan os.Signal, 2)
	c.Stdout, c.Signals = end, signals
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	_, err = io.ReadFull(nobody, make([]byte, 1<<10))
	require.NoError(t, err)
	signals <- syscall.SIGTERM
	signals <- syscall.SIGINT
	interrupt, is := errors.AsType[*InterruptError](<-done)
	require.True(t, is)
	assert.Equal(t, 130, interrupt.ExitStatus())
	for _, host := range []string{"a", "b"} {
		requireEnd(t, pidOf(t, folder, host))
	}
}

// A host that stops is given up, though it has taken all the input that it holds.
func TestHostStops(t *testing.T) {
	c, out, folder := elsewhere(t, "exchange")
	zero, err := os.Open("/dev/zero")
	require.NoError(t, err)
	defer zero.Close()
	c.Program, c.Args = "sh", []string{"-c", "echo up; cat >/dev/null; exec sleep 600"}
	c.Stdin, c.HostTimeout = zero, 2*time.Second
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 4)
	require.NoError(t, syscall.Kill(pidOf(t, folder, "a"), syscall.SIGSTOP))
	assert.ErrorContains(t, <-done, "the connection to host a is lost: nothing was heard from there for 2s")
}

// It is given up, too, if it takes no order, which may be longer than what the way there holds.
func TestHostTakesNoOrder(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name, c.HostTimeout = "stuck", 2*time.Second // the other host, on a busy machine, is not that silent
	c.Program, c.Args = "sh", []string{"-c", "exec sleep 600", strings.Repeat("long", 100<<10)}
	assert.ErrorContains(t, Run(t.Context(), c), "the connection to host stuck is lost: nothing was heard from there for 2s")
}

// Ranks whose launcher stops end, though it takes none of their output.
func TestLauncherStops(t *testing.T) {
	c, _, _ := elsewhere(t, "lines")
	shell := c.Elsewhere[0].Host.Shell[0]
	cmd := exec.Command(c.Program, shell, "exec yes")
	cmd.Env = append(os.Environ(), roleEnv+"=launcher elsewhere")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 4<<20)) // both hosts have started theirs, and more is under way
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	for _, host := range []string{"a", "b"} {
		requireEnd(t, pidOf(t, filepath.Dir(shell), host))
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

// What a host says beside the ranks' output has the host's name.
func TestNotesOfHosts(t *testing.T) {
	c, out, folder := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "noisy"
	fifo := filepath.Join(folder, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c.Stdin, c.Program, c.Args = input, "sh", []string{"-c", "echo up; read x; true"}
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 4)
	require.NoError(t, os.WriteFile(fifo, []byte("go\n"), 0))
	out.Await(t, "host noisy: the disk is full\n", 1)
	require.NoError(t, end.Close())
	require.NoError(t, <-done)
}

// Input that does not end is left alone when the job is over.
func TestOpenInputElsewhere(t *testing.T) {
	input, end, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(input.Close(), end.Close())) }) // after the look at what was left
	c, out, _ := elsewhere(t, "exchange")
	c.Stdin = input
	require.NoError(t, Run(t.Context(), c), "%s", out)
	assert.Len(t, out.Sorted(), 4)
}

// A job on other hosts is known where its launcher runs.
func TestLiveElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "live")
	c.Ranks, c.Elsewhere[0].Ranks, c.Elsewhere[1].Ranks = 2, []int{0}, []int{1}
	c.LiveDir = filepath.Join(t.TempDir(), "jobs")
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c.Stdin = input
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "ready", 1)
	answers, err := live.Jobs(c.LiveDir)
	require.NoError(t, err)
	require.Len(t, answers, 1)
	require.Len(t, answers[0].Ranks, 2)
	for rank, r := range answers[0].Ranks {
		assert.Equal(t, string("ab"[rank]), r.Host)
		assert.NotEmpty(t, r.Report, "%s", r.Silent)
	}
	require.NoError(t, end.Close())
	require.NoError(t, <-done, "%s", out)
}

// It is known before all hosts were reached, too.
func TestLiveWhileHostsAreReached(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name, c.LiveDir, c.Verbose = "silent", filepath.Join(t.TempDir(), "jobs"), true
	signals := make(chan os.Signal, 1)
	c.Signals = signals
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "host a: reached", 1)
	answers, err := live.Jobs(c.LiveDir)
	require.NoError(t, err)
	require.Len(t, answers, 1)
	for _, r := range answers[0].Ranks {
		assert.Equal(t, "is not started yet", r.Silent)
	}
	signals <- syscall.SIGINT
	require.Error(t, <-done)
}
