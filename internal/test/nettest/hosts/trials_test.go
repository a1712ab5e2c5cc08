//go:build linux

package hosts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A misfortune befalls a job at any moment from the first remote shell to the last rank's end. It says whether
// it has found what it is for.
type misfortune struct {
	name   string
	strike func(t *testing.T, s *site, victim int, launcher *netspace.Cmd) (struck bool)
	status int // of a job that has not ended by then; -1: a signal
	words  string
}

// Where a host is named, it is the one that was struck.
var misfortunes = []misfortune{
	{"a rank is killed", func(t *testing.T, s *site, victim int, _ *netspace.Cmd) bool {
		return s.strike(t, s.hosts[victim], func(line []string) bool { return slices.Contains(roles, line[len(line)-1]) })
	}, 128 + 9, `rank \d+ on host HOST \(pid \d+\) was killed by signal 9 \(SIGKILL\)`},
	{"ssh is killed", func(t *testing.T, s *site, victim int, _ *netspace.Cmd) bool {
		return s.strike(t, s.launcher, func(line []string) bool { return slices.Contains(line, s.names[victim]) })
	}, 1, `host HOST.*signal: killed`},
	{"strand there is killed", func(t *testing.T, s *site, victim int, _ *netspace.Cmd) bool {
		return s.strike(t, s.hosts[victim], func(line []string) bool { return slices.Contains(line, "run-elsewhere") })
	}, 1, `host HOST.*(the remote shell has ended|exit status 137|exit status 255, .*a program that a signal has ended|it ended without a word)`},
	{"a host is cut off", func(_ *testing.T, s *site, victim int, _ *netspace.Cmd) bool {
		s.links[victim].A.Down()
		return true
	}, 1, `(?s)host HOST.*(nothing was heard from there|exit status 255.*(timed out|Timeout|unreachable)|nothing within)`},
	{"the launcher is killed", func(t *testing.T, _ *site, _ int, launcher *netspace.Cmd) bool {
		return syscall.Kill(launcher.Process.Pid, syscall.SIGKILL) == nil
	}, -1, ``},
	{"^C", func(t *testing.T, _ *site, _ int, launcher *netspace.Cmd) bool {
		return syscall.Kill(launcher.Process.Pid, syscall.SIGINT) == nil
	}, interrupted, `SIGINT|interrupt`},
}

// interrupted is the status of a launcher that has ended its job because of ^C.
const interrupted = 128 + 2

// endedBy reports whether a signal has ended a command that did not expect it.
func endedBy(cmd *netspace.Cmd, signal syscall.Signal) bool {
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status.Signaled() && status.Signal() == signal
}

// strike kills a process of a host, if there is one such.
func (s *site) strike(t *testing.T, h *testnet.Host, is func(line []string) bool) bool {
	t.Helper()
	for pid, line := range commands(t, h) {
		if !slices.Contains(line, "run") && is(line) {
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	return false
}

// A play is a program for trials, and what it writes when all goes well.
type play struct {
	words []string
	want  string
	took  time.Duration // undisturbed
}

// roles are the last words of the programs' command lines.
var roles = []string{"some", "cg", "texts"}

func (s *site) plays(t *testing.T) []*play {
	t.Helper()
	folder := t.TempDir()
	wordfreq := filepath.Join(folder, "wordfreq")
	made, err := exec.CommandContext(t.Context(), "go", "build", "-o", wordfreq, "github.com/strandmp/strand/examples/wordfreq").CombinedOutput()
	require.NoError(t, err, "%s", made)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "texts"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "texts", "text.txt"), []byte(strings.Repeat("words ", 20_000)), 0o644))
	all := []*play{
		{words: []string{s.self, "some"}, want: fmt.Sprintf("some rounds of %d", members)},
		{words: []string{s.self, "cg"}, want: "verified: true"},
		{words: []string{wordfreq, "-dir", filepath.Join(folder, "texts")}, want: "verified: both counts agree on"},
	}
	for _, p := range all {
		begin := time.Now()
		cmd, out := s.run(t, p.words...)
		require.NoError(t, cmd.Wait(), "%s", out)
		require.Contains(t, out.String(), p.want)
		p.took = time.Since(begin)
	}
	return all
}

// TestTrialsOfHosts has misfortunes befall jobs on several hosts. Within seconds nothing of the job is left on any of them: no process,
// no file, no socket. It ended well, or it says what has befallen it.
func TestTrialsOfHosts(t *testing.T) {
	if !need.Thorough() {
		need.CI(t, "eight hosts, and up to ten seconds for a host that is cut off")
	}
	s := build(t)
	plays := s.plays(t)
	trials.Trials{
		Short: 1, Long: 50 * len(misfortunes), Took: "from the misfortune until nothing is left on any host",
		Run: func(t *testing.T, tr *trials.Trial) {
			m, p := misfortunes[tr.Way(len(misfortunes))], plays[tr.Random.IntN(len(plays))]
			victim, push := tr.Random.IntN(members), tr.Random.IntN(2) == 0
			moment := time.Duration(tr.Random.Int64N(int64(p.took + p.took/8)))
			words := p.words
			if push {
				words = append([]string{"--push"}, words...)
			}
			cmd, out := s.run(t, words...)
			done := make(chan struct{})
			go func() {
				_ = cmd.Wait()
				close(done)
			}()
			s.pause(moment, done)
			begin := time.Now()
			struck := m.strike(t, s, victim, cmd)
			defer s.links[victim].A.Up()
			late := time.NewTimer(time.Minute)
			defer late.Stop()
			select {
			case <-done:
			case <-late.C:
				_ = cmd.Process.Kill()
				tr.Hangs(t, fmt.Sprintf("%s, %s after %v: %s", m.name, p.words, moment, out))
			}
			status := cmd.ProcessState.ExitCode()
			told := fmt.Sprintf("%s (found: %v), host %d, %q after %v: status %d: %s", m.name, struck, victim, words, moment, status, out)
			switch {
			case status == 0:
				require.Contains(t, out.String(), p.want, told)
			case m.status == interrupted && endedBy(cmd, syscall.SIGINT):
				require.Empty(t, out.String(), told) // it came before the launcher had asked for signals
			default:
				require.True(t, struck, told)
				require.Equal(t, m.status, status, told)
				require.Regexp(t, strings.ReplaceAll(m.words, "HOST", regexp.QuoteMeta(s.names[victim])), out.String(), told)
			}
			s.awaitEnd(t)
			s.awaitClean(t)
			tr.Done(time.Since(begin))
		},
	}.Try(t)
}

// pause waits until a moment of a job, or its end.
func (s *site) pause(moment time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// awaitClean returns when no host has files or sockets of a job.
func (s *site) awaitClean(t *testing.T) {
	t.Helper()
	left := ""
	require.Eventually(t, func() bool {
		left = ""
		files, err := filepath.Glob(filepath.Join(s.temporary, "*"))
		require.NoError(t, err)
		left = strings.Join(files, " ")
		for _, h := range s.hosts {
			require.NoError(t, h.Do(func() error {
				for _, table := range []string{"tcp", "tcp6", "udp"} {
					text, err := os.ReadFile("/proc/thread-self/net/" + table)
					if err != nil {
						return err
					}
					for line := range bytes.Lines(text) {
						f := strings.Fields(string(line))
						if len(f) > 9 && f[9] != "0" && f[0] != "sl" && !strings.HasSuffix(f[1], ":0016") { // of a process, and not sshd's
							left += " " + h.Name() + " " + table + " " + f[1] + " " + f[2]
						}
					}
				}
				return nil
			}))
		}
		return left == ""
	}, time.Minute, 5*time.Millisecond, "%s", &left)
}
