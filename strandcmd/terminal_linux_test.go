package strandcmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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

// watchdog ends what hangs.
const watchdog = time.Minute

// openTerminal returns both ends of a new terminal: the person's, and the programs'.
func openTerminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	need.That(t, err == nil, "needs /dev/ptmx: %v", err)
	t.Cleanup(func() { near.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { far.Close() })
	return near, far
}

// A terminal has a shell with job control, which runs a script, and collects what is shown.
type terminal struct {
	t     *testing.T
	near  *os.File
	shell *exec.Cmd

	mu      sync.Mutex
	shown   bytes.Buffer
	changed chan struct{}
}

// atTerminal starts a script, in which $STRAND is the command, and $DIR a folder of its own.
func atTerminal(t *testing.T, script string) *terminal {
	t.Helper()
	near, far := openTerminal(t)
	x := &terminal{t: t, near: near, changed: make(chan struct{}, 1)}
	command := strandProcess(t)
	x.shell = exec.CommandContext(t.Context(), need.Program(t, "bash", "bash"), "-mc", script)
	x.shell.Env = append(command.Env, "STRAND="+command.Path, "DIR="+t.TempDir())
	x.shell.Stdin, x.shell.Stdout, x.shell.Stderr = far, far, far
	x.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, x.shell.Start())
	require.NoError(t, far.Close())
	go x.watch()
	t.Cleanup(func() {
		if x.shell.ProcessState == nil {
			_ = unix.Kill(-x.shell.Process.Pid, unix.SIGKILL)
			_ = x.shell.Wait()
		}
	})
	return x
}

// watch collects until nobody has the programs' end.
func (x *terminal) watch() {
	part := make([]byte, 4<<10)
	for {
		n, err := x.near.Read(part)
		x.mu.Lock()
		x.shown.Write(part[:n])
		x.mu.Unlock()
		select {
		case x.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown.String()
}

func (x *terminal) typed(text string) {
	x.t.Helper()
	_, err := x.near.WriteString(text)
	require.NoError(x.t, err)
}

// await returns when a pattern has been shown n times: what its group has matched.
func (x *terminal) await(pattern string, n int) (found []string) {
	x.t.Helper()
	looked := regexp.MustCompile(pattern)
	late := time.NewTimer(watchdog)
	defer late.Stop()
	for {
		all := looked.FindAllStringSubmatch(x.String(), -1)
		if len(all) >= n {
			for _, match := range all {
				found = append(found, match[len(match)-1])
			}
			return found
		}
		select {
		case <-x.changed:
		case <-late.C:
			x.t.Fatalf("%s is not shown %d times: %q", pattern, n, x)
		}
	}
}

// end waits for the end of the script.
func (x *terminal) end() {
	x.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- x.shell.Wait() }()
	select {
	case err := <-ended:
		require.NoError(x.t, err, x.String())
	case <-time.After(watchdog):
		x.t.Fatalf("the script does not end: %q", x)
	}
}

// awaitState returns when processes are stopped (T), or are not.
func awaitState(t *testing.T, pids []string, stopped bool) {
	t.Helper()
	for _, pid := range pids {
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
			return err == nil && bytes.Contains(stat, []byte(") T ")) == stopped
		}, watchdog, time.Millisecond, "process %s: stopped is not %t", pid, stopped)
	}
}

// What is typed while a job is in the background is not for the job, and does not stop it. After
// the job has come to the foreground it is.
func TestRunInBackground(t *testing.T) {
	x := atTerminal(t, `
		mkfifo $DIR/go
		$STRAND run -n 2 sh -c 'trap "echo rank $PMI_RANK lives" USR1; echo pid $$; [ $PMI_RANK = 1 ] || while ! read line; do :; done; echo rank $PMI_RANK read $line' &
		echo launcher $!
		read word <$DIR/go
		read line; echo shell read $line
		jobs
		fg`)
	launcher := x.await(`launcher (\d+)`, 1)[0]
	x.await(`pid (\d+)`, 2)
	x.typed("first\n")
	for round := range 3 { // it takes signals, and so is not stopped
		require.NoError(t, exec.Command("kill", "-USR1", launcher).Run())
		x.await(`rank 0 lives`, round+1)
	}
	awaitState(t, []string{launcher}, false)
	x.tell("go")
	x.await(`shell read first`, 1)
	x.await(`Running`, 1)
	x.typed("second\n")
	x.await(`rank 0 read second`, 1)
	x.end()
}

// tell lets the script go on that reads from $DIR/go.
func (x *terminal) tell(word string) {
	x.t.Helper()
	for _, entry := range x.shell.Env {
		if dir, found := strings.CutPrefix(entry, "DIR="); found {
			require.NoError(x.t, os.WriteFile(filepath.Join(dir, "go"), []byte(word+"\n"), 0o600))
		}
	}
}

// Ctrl-Z stops the whole job, fg has all of it go on.
func TestRunIsStopped(t *testing.T) {
	x := atTerminal(t, `
		mkfifo $DIR/go
		$STRAND run -n 2 sh -c 'echo pid $$; sleep 300 & echo pid $!; [ $PMI_RANK = 0 ] || wait; read line; echo read $line; exit 3'
		jobs
		read word <$DIR/go
		fg
		echo status $?`)
	pids := x.await(`pid (\d+)`, 4)
	x.typed("\x1a")
	x.await(`(?i)Stopped`, 2) // as the shell says at once, and jobs
	awaitState(t, pids, true)
	x.tell("go")
	awaitState(t, pids, false)
	x.typed("on\n")
	x.await(`read on`, 1)
	assert.Equal(t, "3", x.await(`status (\d+)`, 1)[0])
	x.end()
}

// A rank that asks at the terminal itself, as for a password, is stopped for it. That is told, and told once.
func TestRunTellsWhoAsksAtTheTerminal(t *testing.T) {
	x := atTerminal(t, `$STRAND run -n 2 sh -c 'echo pid $$; [ $PMI_RANK = 1 ] && exec sleep 300; read line </dev/tty'; echo status $?`)
	x.await(`pid (\d+)`, 2)
	pid := x.await(`strand run: rank 0 on host \S+ \(pid (\d+)\) is stopped, since it wants something of the terminal`, 1)[0]
	require.NoError(t, exec.Command("kill", "-KILL", pid).Run())
	x.await(`status 137`, 1)
	x.end()
	assert.Len(t, x.await(`is stopped`, 1), 1)
}

// A question is shown though its line has no end, and the lines of others do not go on in it.
func TestRunShowsPrompts(t *testing.T) {
	x := atTerminal(t, `$STRAND run -n 2 --tag-output sh -c '[ $PMI_RANK = 1 ] || { printf "your name? "; read name; echo "hello $name"; }'`)
	x.await(`\[0\] your name\? `, 1)
	x.typed("gopher\n")
	x.await(`(?m)^hello gopher|\] hello gopher`, 1)
	x.end()
}

// Ctrl-\ has each rank say what its goroutines do.
func TestRunDumps(t *testing.T) {
	x := atTerminal(t, `$STRAND run -n 2 --tag-output $STRAND bench pingpong --sizes 8 --iters 1000000000; echo status $?`)
	x.await(`Latency`, 1)
	x.typed("\x1c")
	x.await(`\[0\] SIGQUIT: quit`, 1)
	x.await(`\[1\] SIGQUIT: quit`, 1)
	x.await(`\[0\] goroutine 1 `, 1)
	x.await(`\[1\] goroutine 1 `, 1)
	x.await(`exited with status 2: as SIGQUIT tells a Go program to`, 1)
	assert.Equal(t, "2", x.await(`(?m)^status (\d+)`, 1)[0])
	x.end()
}

// Ctrl-C ends what measures and tries as it does any job: with the status of the signal, and without errors of what it ends.
func TestBenchIsInterrupted(t *testing.T) {
	t.Parallel()
	for shown, line := range map[string]string{"Latency": "bench pingpong --sizes 8 --iters 1000000000", "attributes": "conformance --btl tcp"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			x := atTerminal(t, `$STRAND `+line+`; echo status $?`)
			x.await(shown, 1)
			x.typed("\x03")
			assert.Equal(t, "130", x.await(`(?m)^status (\d+)`, 1)[0])
			x.end()
			assert.NotContains(t, x.String(), "canceled")
			assert.NotContains(t, x.String(), "goroutine ")
			assert.Regexp(t, `SIGINT\)|ended by SIGINT`, x.String())
		})
	}
}

// A terminal may stop what writes to it from the background (stty tostop). What carries out the comparison is in a process group of its
// own, and the first process of a namespace, which can not be stopped: its writes would begin anew for ever.
func TestCompareOnATerminalThatStopsWriters(t *testing.T) {
	t.Parallel()
	s, err := netspace.New("probe")
	need.That(t, err == nil, "needs namespaces: %v", err)
	_ = s.Close()
	x := atTerminal(t, `stty tostop; $STRAND compare --btl tcp --loss 0 --delay 0s --runs 1 --workload '`+smallComparison+`' --out $DIR/r; echo status $?`)
	assert.Equal(t, "0", x.await(`(?m)^status (\d+)`, 1)[0])
	x.end()
	assert.Contains(t, x.String(), "All results are in")
}

// Nobody reads what the ranks say, as when a pager is still open.
func TestRunEndsThoughNobodyReads(t *testing.T) {
	t.Parallel()
	for _, both := range []bool{false, true} {
		for name, tc := range map[string]struct {
			script  string
			timeout string
			signals bool
			status  int
			says    string
		}{
			"timeout":                 {"echo up >&2; exec yes", "300ms", false, 124, "not over within --timeout 300ms"},
			"two signals":             {"echo up >&2; exec yes", "1h", true, 130, "2 (SIGINT)"},
			"ranks that ended":        {"echo up >&2; yes | head -25000", "1s", false, 124, "though all ranks have ended (nobody reads its output"},
			"a rank that has failed":  {"echo up >&2; yes | head -25000; exit 7", "1s", false, 7, "exited with status 7"},
			"one that ignores SIGINT": {"trap '' INT TERM; echo up >&2; while :; do echo y; done", "1h", true, 130, "a second signal"},
		} {
			t.Run(fmt.Sprint(name, ", errors too: ", both), func(t *testing.T) {
				t.Parallel()
				unread, write, err := os.Pipe()
				require.NoError(t, err)
				defer unread.Close()
				cmd := strandProcess(t, "run", "-n", "2", "--timeout", tc.timeout, "--grace", "50ms", "sh", "-c", tc.script)
				var errs shared
				cmd.Stdout, cmd.Stderr = write, &errs
				if both {
					cmd.Stderr = write
				}
				require.NoError(t, cmd.Start())
				write.Close()
				if both {
					awaitFull(t, unread)
				} else {
					require.Eventually(t, func() bool { return strings.Count(errs.String(), "up") == 2 }, watchdog, time.Millisecond)
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = cmd.Wait() // the status tells
				}()
				endBySignals(t, cmd, ended, tc.signals)
				assert.Equal(t, tc.status, statusOf(cmd.ProcessState), &errs)
				if !both {
					assert.Contains(t, errs.String(), tc.says)
				}
			})
		}
	}
}

// endBySignals sends SIGINT until the process has ended, or only waits for that. It repeats the
// signal because the process sees only one of two that come before it looks.
func endBySignals(t *testing.T, cmd *exec.Cmd, ended <-chan struct{}, signals bool) {
	t.Helper()
	again, late := time.NewTicker(20*time.Millisecond), time.NewTimer(watchdog)
	defer again.Stop()
	defer late.Stop()
	for {
		select {
		case <-ended:
			return
		case <-again.C:
			if signals {
				_ = cmd.Process.Signal(os.Interrupt) // or it has ended
			}
		case <-late.C:
			_ = cmd.Process.Kill()
			<-ended
			t.Fatal("it does not end")
		}
	}
}

// statusOf returns the status that a shell gives a process.
func statusOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()) // the last of them, when the command has done with signals
	}
	return s.ExitCode()
}

// shared is a buffer for one who writes and one who reads.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// awaitFull returns when a pipe has so much that not all of it will fit.
func awaitFull(t *testing.T, pipe *os.File) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, err := unix.IoctlGetInt(int(pipe.Fd()), unix.TIOCINQ)
		return err == nil && n >= 32<<10
	}, watchdog, time.Millisecond)
}

// A second Ctrl-C does not wait for what takes its time to end. No folder is left behind all the same.
func TestBenchIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	temporary, err := os.MkdirTemp("", "b") // a short path: there are sockets below it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temporary) })
	started := filepath.Join(bin, "started")
	for name, script := range map[string]string{
		"mpicc.openmpi":  `touch "$3"`,
		"mpirun.openmpi": `[ "$1" != --version ] || exit 0; trap "" TERM; touch ` + started + `; while kill -0 $PPID 2>/dev/null; do sleep 0.01; done`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	cmd := strandProcess(t, "bench", "pingpong", "--against", "openmpi", "--sizes", "8")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+temporary)
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the status tells
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, watchdog, time.Millisecond)
	made, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.NotEmpty(t, made)
	endBySignals(t, cmd, ended, true)
	assert.Equal(t, 130, statusOf(cmd.ProcessState))
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Ctrl-Z stops all of a comparison: nobody wants it to go on with a processor while fg is awaited.
func TestCompareIsStopped(t *testing.T) {
	t.Parallel()
	s, err := netspace.New("probe")
	need.That(t, err == nil, "needs namespaces: %v", err)
	_ = s.Close()
	dir := t.TempDir()
	x := atTerminal(t, `
		mkfifo $DIR/go
		$STRAND compare --btl tcp --loss 0 --delay 0s --runs 10000 --workload '`+smallComparison+`' --out `+dir+`
		read word <$DIR/go
		fg
		echo status $?`)
	awaitRun(t, dir)
	x.typed("\x1a")
	x.await(`(?i)Stopped`, 1)
	all := descendants(x.shell.Process.Pid)
	require.Greater(t, len(all), 1, "the command, and what carries it out")
	for _, pid := range all {
		require.Eventually(t, func() bool { return strings.Contains("TZ", stateOf(pid)) }, watchdog, time.Millisecond, "process %s goes on", pid)
	}
	measured, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	x.tell("go")
	require.Eventually(t, func() bool {
		r, err := results.Load(filepath.Join(dir, resultsFile))
		return err == nil && len(r.Cells[0].Runs) > len(measured.Cells[0].Runs)
	}, watchdog, time.Millisecond)
	x.typed("\x03")
	assert.Equal(t, "130", x.await(`(?m)^status (\d+)`, 1)[0])
	x.end()
}

// descendants are the processes that a process has started, and theirs.
func descendants(pid any) (all []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%v/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}

// stateOf is the letter that a process's state has; "" where there is none any more.
func stateOf(pid string) string {
	stat, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(rest, " ")
	return state
}
