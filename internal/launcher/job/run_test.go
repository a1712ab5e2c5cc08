package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/transcript"
	"github.com/strandmp/strand/param"
)

// playing is a job of this test binary in a role.
func playing(t *testing.T, role string, ranks int) (Config, *transcript.Output) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	out := transcript.New()
	return Config{
		Ranks: ranks, Program: self,
		// The race detector has a process sleep for a second before it exits.
		Environ: []string{roleEnv + "=" + role, "GORACE=atexit_sleep_ms=0"},
		Stdout:  out, Stderr: out, Timeout: time.Minute,
	}, out
}

// shell is a job of a shell script.
func shell(script string, ranks int) (Config, *transcript.Output) {
	out := transcript.New()
	return Config{Ranks: ranks, Program: "sh", Args: []string{"-c", script}, Stdout: out, Stderr: out, Timeout: time.Minute}, out
}

func TestJob(t *testing.T) {
	c, out := playing(t, "exchange", 16)
	require.NoError(t, Run(context.Background(), c), "%s", out)
	var want []string
	for rank := range 16 {
		want = append(want, fmt.Sprintf("%d %d of 16 strand run", 5000+(rank+1)%16, rank))
	}
	slices.Sort(want)
	assert.Equal(t, want, out.Sorted())
}

func TestProgramWithoutPMI(t *testing.T) {
	c, out := shell("echo hello", 3)
	require.NoError(t, Run(context.Background(), c))
	assert.Equal(t, []string{"hello", "hello", "hello"}, out.Sorted())
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		role, want string
		status     int
	}{
		{"exit", `rank 1 on host \S+ \(pid \d+\) exited with status 3; the 2 other ranks still running were ended`, 3},
		{"kill", `rank 1 on host \S+ \(pid \d+\) was killed by signal 9 \(SIGKILL\); the 2 other ranks`, 137},
		{"abort", `rank 1 on host \S+ \(pid \d+\) aborted with code 7: no more work; the 2 other ranks`, 7},
		{"abort zero", `aborted with code 0: no more work`, 1},
		{"desert", `rank 1 on host \S+ \(pid \d+\) exited without calling finalize: its world was not closed`, 1},
		{"absent", `rank 1 on host \S+ \(pid \d+\) exited without joining the job, which other ranks are in: does its program`, 1},
		{"part", `rank 1 on host \S+ \(pid \d+\) closed its connection to the launcher without calling finalize, and runs on`, 1},
		{"garbage", `rank \d on host \S+ \(pid \d+\) broke the launcher's protocol: pmi: "GET / HTTP/1.1" is no PMI-1 line`, 1},
	} {
		t.Run(tc.role, func(t *testing.T) {
			c, out := playing(t, tc.role, 3)
			c.Grace = 100 * time.Millisecond // they ignore SIGTERM
			start := time.Now()
			err := Run(context.Background(), c)
			t.Logf("over after %v", time.Since(start))
			var failure *RankError
			require.ErrorAs(t, err, &failure, "%s", out)
			assert.Regexp(t, regexp.MustCompile(tc.want), failure.Error())
			assert.Equal(t, tc.status, failure.ExitStatus())
		})
	}
}

// The rank that failed first is blamed, not one that missed it and aborted before
// the launcher heard of the first.
func TestConsequencesAreNotBlamed(t *testing.T) {
	for range need.Daily(10, 30) {
		c, out := playing(t, "exit 7", 5)
		var failure *RankError
		require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
		require.Equal(t, 2, failure.Rank, "%v: %s", failure, out)
		require.Equal(t, Exited, failure.How)
		require.Equal(t, 7, failure.ExitStatus())
	}
}

// A rank that has no descriptors left is blamed, and not the others, which fail because of it.
func TestWhoStarvesIsBlamed(t *testing.T) {
	t.Parallel() // it waits for an end that does not come
	for range need.Times(1, 100) {
		c, out := playing(t, "starved", 8)
		var failure *RankError
		require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
		require.Equal(t, 5, failure.Rank, "%v: %s", failure, out)
		require.Contains(t, failure.Message, "too many open files")
	}
}

func TestStatusOfTheFirst(t *testing.T) {
	c, _ := shell("test $PMI_RANK = 2 && exit 42; exec sleep 300", 4)
	var failure *RankError
	require.ErrorAs(t, Run(context.Background(), c), &failure)
	assert.Equal(t, 42, failure.ExitStatus())
	assert.Equal(t, 2, failure.Rank)
	assert.Equal(t, 3, failure.Ended)
}

func TestTimeout(t *testing.T) {
	c, _ := shell("exec sleep 300", 2)
	c.Timeout = 50 * time.Millisecond
	err := Run(context.Background(), c)
	var late *TimeoutError
	require.ErrorAs(t, err, &late)
	assert.ErrorContains(t, err, "--timeout 50ms")
	assert.ErrorContains(t, err, "ranks 0, 1")
	assert.Equal(t, 124, late.ExitStatus())
}

func TestContextEnds(t *testing.T) {
	c, out := shell("echo ready; exec sleep 300", 2)
	reason := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		out.Await(t, "ready", 2)
		cancel(reason)
	}()
	assert.ErrorIs(t, Run(ctx, c), reason)
}

func TestSurvivors(t *testing.T) {
	c, out := playing(t, "survive", 4)
	c.KeepGoing = true
	var failure *RankError
	require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
	assert.Equal(t, 2, failure.Rank)
	assert.Equal(t, Killed, failure.How)
	assert.Zero(t, failure.Ended)
	assert.Equal(t, []string{"rank 2 is missed: true", "rank 2 is missed: true", "rank 2 is missed: true"}, out.Sorted())
}

func TestSignalsArePassedOn(t *testing.T) {
	signals := make(chan os.Signal)
	c, out := playing(t, "signals", 2)
	c.Signals = signals
	go func() {
		out.Await(t, "ready", 2)
		for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGHUP, syscall.SIGINT, syscall.SIGUSR2} {
			signals <- s
			out.Await(t, fmt.Sprintf("got %v", s), 2)
		}
	}()
	require.NoError(t, Run(context.Background(), c), "%s", out)
}

func TestDeathByPassedSignal(t *testing.T) {
	signals := make(chan os.Signal)
	c, out := shell("echo ready; exec sleep 300", 2)
	c.Signals = signals
	go func() {
		out.Await(t, "ready", 2)
		signals <- syscall.SIGINT
	}()
	var failure *RankError
	require.ErrorAs(t, Run(context.Background(), c), &failure)
	assert.Equal(t, 130, failure.ExitStatus())
	assert.ErrorContains(t, failure, "was killed by signal 2 (SIGINT): passed on by the launcher")
}

func TestSecondInterruptKills(t *testing.T) {
	signals := make(chan os.Signal)
	c, out := playing(t, "signals", 2)
	c.Signals = signals
	go func() {
		out.Await(t, "ready", 2)
		signals <- syscall.SIGTERM
		signals <- syscall.SIGINT
	}()
	var interrupt *InterruptError
	require.ErrorAs(t, Run(context.Background(), c), &interrupt)
	assert.Equal(t, 130, interrupt.ExitStatus())
}

// Timeout(1) sends its signal to the launcher and to its group, so that it comes twice. The ranks get it once and have their time.
func TestEndedByTimeout(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		signals := make(chan os.Signal)
		c, out := shell(`trap 'echo saves' TERM INT; trap 'exit 0' USR1; echo ready; while :; do sleep 600 & wait; done`, 2)
		c.Signals = signals
		go func() {
			out.Await(t, "ready", 2)
			signals <- s
			signals <- s
			out.Await(t, "saves", 2)
			signals <- syscall.SIGUSR1
		}()
		require.NoError(t, Run(context.Background(), c), "%s", out)
		assert.Equal(t, 2, strings.Count(out.String(), "saves"))
	}
}

func TestStdinGoesToRankZero(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	go func() {
		_, _ = io.WriteString(write, "one\ntwo\n")
		_ = write.Close()
	}()
	c, out := playing(t, "copy", 3)
	c.Stdin, c.TagOutput = read, true
	require.NoError(t, Run(context.Background(), c))
	assert.Equal(t, "[0] one\n[0] two\n", out.String())
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PMI_PORT", "outer:1") // as if started by another launcher
	t.Setenv("PMI_RANK", "77")
	t.Setenv("LOCAL_TEST_KEPT", "kept")
	c, out := playing(t, "environ", 1)
	c.Environ = append(c.Environ, "LOCAL_TEST_SET=a=b", "LOCAL_TEST_KEPT")
	c.Flags = []param.Setting{{Name: "btl", Text: "tcp,self", Source: param.Source{Kind: param.Flag, Where: "--btl"}}}
	require.NoError(t, Run(context.Background(), c))
	env := out.Sorted()
	for _, want := range []string{
		"PMI_RANK=0", "PMI_SIZE=1", "PMI_FD=3", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1",
		"LOCAL_TEST_SET=a=b", "LOCAL_TEST_KEPT=kept", param.FlagsEnv(c.Flags),
	} {
		assert.Contains(t, env, want)
	}
	assert.NotContains(t, out.String(), "PMI_PORT")
}

func TestLeftoversEnd(t *testing.T) {
	c, out := playing(t, "leftover", 2)
	require.NoError(t, Run(context.Background(), c), "though a process held the output open")
	requireGone(t, out.String(), 2)
}

// A process that has left its rank's group and holds the output is heard for a moment. That is no reader who does not read, for
// whom a job that is to end now waits for longer.
func TestRunawayHoldsTheOutput(t *testing.T) {
	t.Parallel() // it waits for that moment
	c, out := shell("setsid sleep 60 & echo pid $!; exec sleep 600", 2)
	c.Timeout = 50 * time.Millisecond
	err := Run(context.Background(), c)
	for _, match := range regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(out.String(), -1) {
		pid, _ := strconv.Atoi(match[1])
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_, late := errors.AsType[*TimeoutError](err)
	require.True(t, late, "%v", err)
	assert.NotContains(t, err.Error(), "nobody reads")
}

// requireGone waits until the processes that a text names have ended.
func requireGone(t *testing.T, text string, n int) {
	t.Helper()
	pids := regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(text, -1)
	require.Len(t, pids, n)
	for _, match := range pids {
		var pid int
		_, err := fmt.Sscan(match[1], &pid)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return ended(pid) }, time.Minute, time.Millisecond, "pid %d lives", pid)
	}
}

// ended says whether a process is gone, or is a zombie whose parent, gone too,
// left it to an init that does not look after it.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return bytes.Contains(stat, []byte(") Z"))
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestOutputThatBreaks(t *testing.T) {
	c, _ := shell("while :; do echo line; done", 2)
	c.Stdout = brokenWriter{}
	assert.ErrorContains(t, Run(context.Background(), c), "disk full")
}

func TestVerbose(t *testing.T) {
	c, out := shell("exit 0", 1)
	c.Verbose = true
	require.NoError(t, Run(context.Background(), c))
	assert.Regexp(t, `strand run: rank 0 on host \S+: started, pid \d+\nstrand run: rank 0: exited with status 0\n`, out.String())
}
