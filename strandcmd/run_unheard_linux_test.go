package strandcmd

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/launcher/live"
)

// A job whose reader goes away (strand run … | head) ends as any other: its ranks are asked to end
// before they are killed, its trace is written, and nothing is left of it.
func TestRunWhoseReaderGoesAway(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := t.TempDir()
	page := filepath.Join(dir, "trace.json")
	cmd := strandProcess(t, "run", "-n", "2", "--grace", "1m", "--trace", page, "sh", "-c",
		`trap 'echo saved >"$0/$PMI_RANK"; exit' TERM; echo up; while :; do echo line; done`, dir)
	var errs shared
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for lines, up := bufio.NewScanner(out), 0; up < 2; {
		require.True(t, lines.Scan())
		if lines.Text() == "up" {
			up++
		}
	}
	require.NoError(t, out.Close())
	_ = cmd.Wait() // the status tells
	assert.Equal(t, 141, statusOf(cmd.ProcessState), "as SIGPIPE would have it")
	for _, rank := range []string{"0", "1"} {
		assert.FileExists(t, filepath.Join(dir, rank), "rank %s has heard of its end", rank)
	}
	about, err := os.Stat(page)
	require.NoError(t, err)
	assert.NotZero(t, about.Size(), "the trace is written")
	left, err := os.ReadDir(live.Dir())
	require.NoError(t, err)
	assert.Empty(t, left, "sockets")
	assert.NotContains(t, errs.String(), "broken pipe")
}

// Ctrl-C ends the job and what reads its output (strand run … | tee). The ranks are not ended once more for that, while they save what
// they have.
func TestRunWhoseReaderIsInterruptedToo(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	require.NoError(t, unix.Mkfifo(gate, 0o600))
	gateway, err := os.OpenFile(gate, os.O_RDWR, 0)
	require.NoError(t, err)
	defer gateway.Close()
	cmd := strandProcess(t, "run", "-n", "1", "sh", "-c",
		`trap 'read x <"$0/gate"; echo saves; sleep .3; echo >"$0/saved"; exit 0' INT; echo up; while :; do sleep .05; done`, dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("up\n")))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, out.Close())
	_, err = gateway.WriteString("go\n")
	require.NoError(t, err)
	assert.NoError(t, cmd.Wait())
	assert.FileExists(t, filepath.Join(dir, "saved"))
}
