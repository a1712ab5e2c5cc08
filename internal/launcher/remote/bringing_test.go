package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// shells are those of this host, as words before a command line.
func shells() (found [][]string) {
	for _, s := range [][]string{{"sh", "-c"}, {"bash", "-c"}, {"busybox", "sh", "-c"}} {
		if _, err := exec.LookPath(s[0]); err == nil {
			found = append(found, s)
		}
	}
	return found
}

// A carriage is strand being brought to this host.
type carriage struct {
	*exec.Cmd
	in, end   *os.File // what the shell reads
	temporary string
}

const broughtProgram = "#!/bin/sh\necho started\nexec cat >/dev/null\n"

// bring begins to bring a script, of which nothing is sent yet, by the given steps.
func bring(t *testing.T, shell, steps []string) *carriage {
	t.Helper()
	program := filepath.Join(t.TempDir(), "strand")
	require.NoError(t, os.WriteFile(program, []byte(broughtProgram), 0o700))
	defer func(whole []string) { bringing = whole }(bringing)
	bringing = steps
	line := Host{Name: "a", Program: program, Carry: true, Patience: time.Hour}.carried(int64(len(broughtProgram)))
	words := append(slices.Clip(shell), line)
	var err error
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := &carriage{Cmd: exec.CommandContext(ctx, words[0], words[1:]...), temporary: t.TempDir()}
	c.in, c.end, err = os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.end.Close() })
	c.Stdin, c.Env = c.in, append(os.Environ(), "TMPDIR="+c.temporary)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// deaf has the carriage use a head that is not ended by signals that can be caught: as one that got them before it was one.
func (c *carriage) deaf(t *testing.T) {
	t.Helper()
	head, err := exec.LookPath("head")
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "head"), []byte("#!/bin/sh\ntrap '' HUP INT QUIT TERM\nexec "+head+" \"$@\"\n"), 0o700))
	c.Env = append(c.Env, "PATH="+folder+":"+os.Getenv("PATH"))
}

// hasCome reports whether there is a folder for strand.
func (c *carriage) hasCome() bool {
	come, err := os.ReadDir(c.temporary)
	return err == nil && len(come) > 0
}

// requireEnd has the shell ended by itself, with an error.
func (c *carriage) requireEnd(t *testing.T, err error) {
	t.Helper()
	exit, is := errors.AsType[*exec.ExitError](err)
	require.True(t, is, "%v", err)
	require.True(t, exit.Exited(), "%v", err)
}

// requireNothing has nothing left of what came, and nobody who reads.
func (c *carriage) requireNothing(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	require.Eventually(t, func() bool {
		_, err := c.end.WriteString("more")
		return err != nil && !c.hasCome()
	}, time.Minute, time.Millisecond, "something is left, or somebody who reads")
}

// docs/KUBERNETES.md says which programs a host has to have: strand is brought where there are no others.
func TestProgramsThatBringingNeeds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "KUBERNETES.md"))
	require.NoError(t, err)
	row := regexp.MustCompile("\\| `--push` \\| (.*), a writable").FindSubmatch(page)
	require.NotNil(t, row)
	folder := t.TempDir()
	for _, name := range regexp.MustCompile("[a-z]+").FindAllString(string(row[1]), -1) {
		program, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(program, filepath.Join(folder, name)))
	}
	c := bring(t, []string{"sh", "-c"}, bringing)
	c.Env = append(c.Env, "PATH="+folder)
	_, err = c.end.WriteString(broughtProgram)
	require.NoError(t, err)
	require.NoError(t, c.end.Close())
	out, err := c.CombinedOutput()
	assert.Contains(t, string(out), "started\n", "%v", err)
	assert.False(t, c.hasCome())
}

// A signal may come between any two steps, to the shell or to all that it runs. What was brought does not stay.
func TestSignalBetweenTheStepsOfBringing(t *testing.T) {
	waits := slices.Index(bringing, "wait $h; ")
	for _, shell := range shells() {
		for _, to := range []string{"$$", "-$$"} {
			for at := 3; at < len(bringing); at++ { // from the traps on
				t.Run(fmt.Sprintf("%s/%s/%d", shell[0], to, at), func(t *testing.T) {
					c := bring(t, shell, slices.Insert(slices.Clone(bringing), at, "kill -TERM "+to+"; "))
					c.deaf(t)
					if at > waits {
						_, err := c.end.WriteString(broughtProgram)
						require.NoError(t, err)
					}
					c.requireEnd(t, c.Run())
					c.requireNothing(t)
				})
			}
		}
	}
}

// The process that reads may not have heard of a signal: it was begun as that came. It is ended all the same.
func TestSignalWhileStrandIsBrought(t *testing.T) {
	for _, shell := range shells() {
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM} {
			t.Run(shell[0]+"/"+s.String(), func(t *testing.T) {
				c := bring(t, shell, bringing)
				c.deaf(t)
				require.NoError(t, c.Start())
				require.Eventually(t, c.hasCome, time.Minute, time.Millisecond)
				require.NoError(t, syscall.Kill(-c.Process.Pid, s))
				c.requireEnd(t, c.Wait())
				c.requireNothing(t)
			})
		}
	}
}

// Strand is not started before all of it has come, when the launcher ends.
func TestInputEndsWhileStrandIsBrought(t *testing.T) {
	for _, shell := range shells() {
		t.Run(shell[0], func(t *testing.T) {
			c := bring(t, shell, bringing)
			_, err := c.end.WriteString(broughtProgram[:strings.LastIndex(broughtProgram, "exec")])
			require.NoError(t, err)
			require.NoError(t, c.end.Close())
			out, err := c.Output()
			require.Error(t, err)
			assert.Empty(t, string(out))
			assert.False(t, c.hasCome())
		})
	}
}

// The shell there is killed. Who watches that more comes removes what has.
func TestShellIsKilledWhileStrandIsBrought(t *testing.T) {
	for _, shell := range shells() {
		t.Run(shell[0], func(t *testing.T) {
			c := bring(t, shell, slices.Insert(slices.Clone(bringing), slices.Index(bringing, "wait $h; "), "kill -9 $$; "))
			require.Error(t, c.Run())
			c.requireNothing(t)
		})
	}
}

// The shell there is killed when all has come, and before it begins strand. Who watched removes it still.
func TestShellIsKilledBeforeStrandBegins(t *testing.T) {
	for _, shell := range shells() {
		t.Run(shell[0], func(t *testing.T) {
			c := bring(t, shell, slices.Insert(slices.Clone(bringing), slices.Index(bringing, "wait $h; "), "wait $h; kill -9 $$; "))
			_, err := c.end.WriteString(broughtProgram)
			require.NoError(t, err)
			require.Error(t, c.Run())
			c.requireNothing(t)
		})
	}
}

// Signals come at any time, and some to a process that is just begun.
func TestSignalAtAnyTimeWhileStrandIsBrought(t *testing.T) {
	for _, shell := range shells() {
		for range need.Times(5, 1000) {
			c := bring(t, shell, bringing)
			require.NoError(t, c.Start())
			require.Eventually(t, c.hasCome, time.Minute, 100*time.Microsecond)
			moment := time.NewTimer(rand.N(4 * time.Millisecond))
			<-moment.C
			require.NoError(t, syscall.Kill(-c.Process.Pid, syscall.SIGTERM))
			c.requireEnd(t, c.Wait())
			c.requireNothing(t)
		}
	}
}
