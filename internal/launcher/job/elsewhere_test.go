package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/transcript"
)

// elsewhereBuild is the build of strand on the hosts of these tests.
const elsewhereBuild = "test build"

// playElsewhere is strand on another host.
func playElsewhere() {
	var call remote.Call
	flags := pflag.NewFlagSet(os.Args[1], pflag.ExitOnError)
	call.AddFlags(flags)
	_ = flags.Parse(os.Args[2:]) // or it ends this process
	i := remote.Introduction{Build: elsewhereBuild}
	if err := remote.Serve(context.Background(), os.Stdin, os.Stdout, i, call); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// remoteShell returns a command that runs command lines as ssh does, but here. It leaves the number
// of its process in a file of the folder that has the host's name.
func remoteShell(t *testing.T) (words []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	script := "#!/bin/sh\necho $$ >" + folder + "/$1\n[ $1 = nowhere ] && { echo 'no route to host' >&2; exit 255; }\n" +
		"[ $1 = silent ] && exec sleep 600\n" +
		"[ $1 = slow ] && sleep .3\n" +
		"[ $1 = foreign ] && exec env -S \"${2#exec }\"\n" +
		"[ $1 = poor ] && ulimit -n 16\n" +
		"[ $1 = stuck ] && { echo '{\"strand\":\"" + elsewhereBuild + "\"}'; exec sleep 600; }\n" +
		"[ $1 = starved ] && exec sh -c \"$2\" <>" + folder + "/fifo\n" +
		"[ $1 = noisy ] && { read x <" + folder + "/fifo; echo the disk is full >&2; } &\n" +
		"case $2 in exec*) exec sh -c \"$2\";; esac\nexec sh -c \"exec $2\"\n"
	path := filepath.Join(folder, "shell")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return []string{path}, folder
}

// elsewhere puts a job on hosts a and b, two ranks each.
func elsewhere(t *testing.T, role string) (c Config, out *transcript.Output, folder string) {
	t.Helper()
	leak.Check(t)
	c, out = playing(t, role, 4)
	shell, folder := remoteShell(t)
	for i, name := range []string{"a", "b"} {
		host := remote.Host{Name: name, Shell: shell, Program: c.Program, Patience: time.Minute}
		c.Elsewhere = append(c.Elsewhere, Share{host, []int{2 * i, 2*i + 1}})
	}
	c.Build, c.Dir = elsewhereBuild, t.TempDir()
	return c, out, folder
}

// pidOf returns the number of the process that a host's remote shell has become.
func pidOf(t *testing.T, folder, host string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, host))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

func TestRanksElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	require.NoError(t, Run(t.Context(), c), "%s", out)
	var want []string
	for rank := range 4 {
		want = append(want, fmt.Sprintf("%d %d of 4 strand run", 5000+(rank+1)%4, rank))
	}
	assert.ElementsMatch(t, want, out.Sorted())
}

// The program and strand itself are brought there.
func TestPushedElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	c.Push = true
	for i := range c.Elsewhere {
		c.Elsewhere[i].Host.Carry = true
	}
	t.Setenv("TMPDIR", t.TempDir())
	require.NoError(t, Run(t.Context(), c), "%s", out)
	assert.Len(t, out.Sorted(), 4)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A user's login shell there may be csh or fish, of which nothing but words and quotes is to be expected.
func TestPushedByAForeignShell(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	c.Push = true
	c.Elsewhere[1].Host.Name, c.Elsewhere[1].Host.Carry = "foreign", true
	t.Setenv("TMPDIR", t.TempDir())
	require.NoError(t, Run(t.Context(), c), "%s", out)
	assert.Len(t, out.Sorted(), 4)
	requireNothingLeft(t)
}

// A working directory may be named from where the shell there begins.
func TestRelativeDirElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	home := t.TempDir()
	t.Chdir(home)
	require.NoError(t, os.Mkdir("runs", 0o700))
	c.Dir, c.Program, c.Args = "runs", "sh", []string{"-c", "pwd -P"}
	require.NoError(t, Run(t.Context(), c), "%s", out)
	there, err := filepath.EvalSymlinks(filepath.Join(home, "runs"))
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat(there+"\n", 4), out.String())
}

// Arguments, variables and paths are bytes, and come as they are: old file names are Latin-1.
func TestTextThatIsNoUTF8Elsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "exchange")
	c.Dir = filepath.Join(t.TempDir(), "f\xfcr")
	require.NoError(t, os.Mkdir(c.Dir, 0o700))
	c.Environ = append(c.Environ, "LOCAL_TEST_TEXT=gr\xfcn")
	c.Program, c.Args = "sh", []string{"-c", `echo "$0 $LOCAL_TEST_TEXT ${PWD##*/}"`, "m\xfcde"}
	require.NoError(t, Run(t.Context(), c), "%s", out)
	assert.Equal(t, strings.Repeat("m\xfcde gr\xfcn f\xfcr\n", 4), out.String())
}

func TestInputElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "copy")
	in, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer in.Close()
	c.Stdin = in
	require.NoError(t, Run(t.Context(), c))
	want, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	assert.Equal(t, len(want), len(out.String()), "more than all windows hold")
	assert.True(t, string(want) == out.String())
}

// A rank on another host can not see that its input is broken: it takes that for the end. So it is said.
func TestInputThatBreaksElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "copy")
	folder, err := os.Open(t.TempDir()) // which can not be read as a file
	require.NoError(t, err)
	defer folder.Close()
	c.Stdin = folder
	require.NoError(t, Run(t.Context(), c))
	assert.Equal(t, "strand run: standard input can not be read on, and ends for rank 0: is a directory\n", out.String())
}

func TestFailuresElsewhere(t *testing.T) {
	for role, want := range map[string]string{
		"exit":   "rank 1 on host a .*exited with status 3",
		"kill":   "rank 1 on host a .*was killed by signal 9",
		"abort":  "rank 1 on host a .*aborted with code 7: no more work",
		"desert": "rank 1 on host a .*exited without calling finalize",
	} {
		t.Run(role, func(t *testing.T) {
			c, _, _ := elsewhere(t, role)
			assert.Regexp(t, want, Run(t.Context(), c))
		})
	}
}

// What connects a host breaks, on either side or in the middle: the job ends, everywhere.
func TestHostIsLost(t *testing.T) {
	for name, end := range map[string]func(pid int){
		"strand there is killed": func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		"the shell ends":         func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			c, out, folder := elsewhere(t, "lines")
			c.Program, c.Args = "sh", []string{"-c", "echo here; exec sleep 600"}
			done := make(chan error, 1)
			go func() { done <- Run(t.Context(), c) }()
			out.Await(t, "here\n", 4)
			end(pidOf(t, folder, "b"))
			err := <-done
			failure, isRank := errors.AsType[*RankError](err)
			require.True(t, isRank, "%v", err)
			assert.Equal(t, Lost, failure.How)
			assert.Contains(t, err.Error(), "on host b ")
			assert.Contains(t, err.Error(), "the connection to host b is lost: the remote shell has ended")
		})
	}
}

// Ranks whose launcher is lost are asked to end, and have the grace to save what they have.
func TestRanksOfALostHostSave(t *testing.T) {
	c, out, folder := elsewhere(t, "lines")
	saved := t.TempDir()
	c.Program, c.Args = "sh", []string{"-c", "trap 'sleep .1; echo >" + saved + "/$PMI_RANK; exit' TERM; echo here; sleep 600 & wait"}
	c.Grace = time.Minute
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "here\n", 4)
	require.NoError(t, syscall.Kill(pidOf(t, folder, "b"), syscall.SIGTERM))
	require.Error(t, <-done)
	for rank := range 4 {
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(saved, strconv.Itoa(rank)))
			return err == nil
		}, time.Minute, 10*time.Millisecond, "rank %d", rank)
	}
	requireEnd(t, pidOf(t, folder, "b"))
}

// A launcher that is killed takes all ranks with it.
func TestRanksElsewhereEndWithTheLauncher(t *testing.T) {
	c, _, folder := elsewhere(t, "lines")
	shell := c.Elsewhere[0].Host.Shell
	cmd := exec.Command(c.Program, shell[0])
	cmd.Env = append(os.Environ(), roleEnv+"=launcher elsewhere")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	seen := make([]byte, len("here\nhere\n"))
	_, err = io.ReadFull(out, seen)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, host := range []string{"a", "b"} {
		requireEnd(t, pidOf(t, folder, host))
	}
}

// requireEnd waits until a process has ended. Somebody else may have to reap it.
func requireEnd(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return err != nil
	}, time.Minute, 10*time.Millisecond, "process %d runs on", pid)
}

// playLauncherElsewhere is a launcher of two ranks that sleep, or do what they are told.
func playLauncherElsewhere() {
	self, _ := os.Executable()
	_ = os.Unsetenv(roleEnv)
	c := Config{Ranks: 2, Program: "sh", Args: []string{"-c", "echo here; exec sleep 600"}, Build: elsewhereBuild, Stdout: os.Stdout, Stderr: os.Stderr}
	if len(os.Args) > 2 {
		c.Args[1], c.HostTimeout = os.Args[2], 500*time.Millisecond
	}
	for i, name := range []string{"a", "b"} {
		c.Elsewhere = append(c.Elsewhere, Share{remote.Host{Name: name, Shell: os.Args[1:2], Program: self, Patience: time.Minute}, []int{i}})
	}
	fmt.Fprintln(os.Stderr, Run(context.Background(), c))
}

func TestHostsThatCanNotBeReached(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"host nowhere: no strand .*exit status 255.*no route to host": func(c *Config) { c.Elsewhere[1].Host.Name = "nowhere" },
		"host silent: .*nothing within 100ms": func(c *Config) {
			c.Elsewhere[1].Host.Name, c.Elsewhere[1].Host.Patience = "silent", 100*time.Millisecond
		},
		"hosts a, b, each alike: host a: .*it is another one, \"test build\"":           func(c *Config) { c.Build = "another build" },
		"hosts a, b, each alike: host a: program \"nosuch\": not found":                 func(c *Config) { c.Program = "nosuch" },
		"hosts a, b, each alike: host a: the working directory: .*--wdir names another": func(c *Config) { c.Dir = "/nowhere" },
		"not over within --timeout 100ms and was ended, before all ranks were started":  func(c *Config) { c.Elsewhere[0].Host.Name, c.Timeout = "silent", 100*time.Millisecond },
	} {
		c, _, _ := elsewhere(t, "exchange")
		change(&c)
		assert.Regexp(t, "(?s)"+want, Run(t.Context(), c))
	}
}

// Where a program, or strand, can not be brought to, or not be run from there, the folder is named, and what names another one.
func TestNoPlaceToBringTo(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd")
	require.NoError(t, os.WriteFile(odd, []byte("#!"+odd+"s\n"), 0o700)) // refused as on a file system without programs
	require.NoError(t, os.WriteFile(odd+"s", nil, 0o600))
	for want, change := range map[string]func(*Config){
		"^hosts node0, node1, each alike: host node0: the program can not be brought here: open /nowhere/strand-program-.*: no such file or directory; TMPDIR here names": func(*Config) { t.Setenv("TMPDIR", "/nowhere") },
		"^hosts node0, node1, each alike: .*was to be brought there, into a folder .* as TMPDIR there": func(c *Config) {
			t.Setenv("TMPDIR", "/nowhere")
			c.Elsewhere[0].Host.Carry, c.Elsewhere[1].Host.Carry = true, true
		},
		"^hosts node0, node1, each alike: .*permission denied: if .* is mounted noexec, TMPDIR here names another": func(c *Config) { c.Program = odd },
	} {
		t.Setenv("TMPDIR", t.TempDir())
		c, _, _ := elsewhere(t, "exchange")
		c.Push = true
		c.Elsewhere[0].Host.Name, c.Elsewhere[1].Host.Name = "node0", "node1" // "a" is a word too
		change(&c)
		assert.Regexp(t, "(?s)"+want, Run(t.Context(), c))
	}
}

// A host that lacks descriptors for its ranks says how many there may be and how many it takes, and does not
// blame the program.
func TestHostLacksDescriptors(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "poor"
	err := Run(t.Context(), c)
	assert.Regexp(t, `host poor: can not start rank [23] of 4: .*too many open files \(this process may have 16 open files: raise the limit with ulimit -n\); .* need about 38`, err)
}

// Whoever has started a job can end it before all hosts have answered.
func TestInterruptedWhileHostsAreReached(t *testing.T) {
	c, _, _ := elsewhere(t, "exchange")
	c.Elsewhere[1].Host.Name = "silent"
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	c.Signals = signals
	err := Run(t.Context(), c)
	assert.ErrorContains(t, err, "before all ranks were started")
	interrupt, is := errors.AsType[*InterruptError](err)
	require.True(t, is)
	assert.Equal(t, 130, interrupt.ExitStatus())
}
