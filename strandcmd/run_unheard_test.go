package strandcmd

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/live"
)

// A job whose reader goes away (strand run … | head) ends as any other: its ranks are asked to end
// before they are killed, its trace is written, and nothing is left of it.
func TestRunWhoseReaderGoesAway(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := t.TempDir()
	page := filepath.Join(dir, "trace.json")
	cmd := strandProcess(t, "run", "-n", "2", "--grace", "1m", "--trace", page, "sh", "-c",
		`trap 'echo saved >"$0/$PMI_RANK"; exit' TERM; while :; do echo line; done`, dir)
	var errs shared
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("line\nline\n")))
	require.NoError(t, err)
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
