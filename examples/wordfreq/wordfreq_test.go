package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/strandtest"
)

// rankEnv makes this test binary the program instead of its test.
const rankEnv = "WORDFREQ_TEST_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(rankEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// corpus makes a directory with files of every kind and of sizes around the
// limits of the protocols, all of one word over and over.
func corpus(t *testing.T) string {
	dir := t.TempDir()
	for name, size := range map[string]int{
		"a.go": 100, "sub/b.go": 5_000, "sub/deep/c.go": 70_000, "d.go": 0,
		"e.s": 65_536, "f.c": 4_096, "g.h": 1, "README.md": 1_200_000, "h.txt": 300_000, "noext": 12_345,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("words "), size/6), 0o644))
	}
	return dir
}

func TestWordfreq(t *testing.T) {
	dir := corpus(t)
	for _, n := range []int{1, 2, 4} {
		for _, ahead := range []int{1, 4} {
			t.Run(fmt.Sprintf("%d ranks, %d ahead", n, ahead), func(t *testing.T) {
				var out bytes.Buffer
				strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
					c := config{dir: dir, max: 1 << 30, ahead: ahead, top: 3, out: io.Discard}
					if w.Rank() == 0 {
						c.out = &out
					}
					return wordfreq(ctx, w, c)
				})
				assert.Contains(t, out.String(), "10 files, 1.7 MB")
				assert.Contains(t, out.String(), "verified: both counts agree on 276,")
			})
		}
	}
}

// Whoever counts wrongly is found out.
func TestVerification(t *testing.T) {
	documents, _, err := list(corpus(t), 1<<30)
	require.NoError(t, err)
	shared, err := countAlone(documents)
	require.NoError(t, err)
	alone, err := countAlone(documents)
	require.NoError(t, err)
	require.NoError(t, shared.compare(alone))

	shared.words[kindMarkdown].add([]byte("words"), 1)
	require.ErrorContains(t, shared.compare(alone), `VERIFICATION FAILED: in the .md files, counted together or alone, the word "words" is there 200001 times or 200000 times`)
}

func TestList(t *testing.T) {
	dir := corpus(t)
	some, total, err := list(dir, 1_300_000)
	require.NoError(t, err)
	assert.NotEmpty(t, some)
	assert.LessOrEqual(t, total, int64(1_300_000))

	_, _, err = list(t.TempDir(), 100)
	require.ErrorContains(t, err, "no files within the limit")
	_, _, err = list(filepath.Join(dir, "nowhere"), 100)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file that has shrunk since it was listed ends the run.
func TestShrunkFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(path, []byte("abc"), 0o644))
	_, err := document{path: path, size: 4}.read(nil)
	require.ErrorIs(t, err, io.EOF)
	require.ErrorContains(t, err, "4 bytes when it was listed, only 3 now")
}

func TestFlags(t *testing.T) {
	good := config{ahead: 1}
	require.NoError(t, good.check("64K"))
	assert.EqualValues(t, 65536, good.max)
	for _, bad := range []struct {
		c     config
		limit string
		want  string
	}{
		{config{ahead: 1}, "many", "-max"},
		{config{ahead: 1}, "0", "-max 0"},
		{config{ahead: 0}, "1K", "-ahead 0"},
		{config{ahead: 1, top: -1}, "1K", "-top -1"},
	} {
		require.ErrorContains(t, bad.c.check(bad.limit), bad.want)
	}
}

// The program as processes of their own, as strand run starts it.
func TestProcesses(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	for _, ranks := range []int{1, 4} {
		var out, errs bytes.Buffer
		err := job.Run(t.Context(), job.Config{
			Ranks: ranks, Program: program, Args: []string{"-dir", corpus(t), "-top", "1"},
			Environ: []string{rankEnv + "=1"}, Stdout: &out, Stderr: &errs, Timeout: strandtest.Timeout,
		})
		require.NoError(t, err, "%s", errs.String())
		assert.Contains(t, out.String(), "verified")
		assert.Empty(t, errs.String())
	}
}

// One process that can not go on ends all.
func TestProcessesFail(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	err = job.Run(t.Context(), job.Config{
		Ranks: 3, Program: program, Args: []string{"-dir", "/nonexistent"},
		Environ: []string{rankEnv + "=1"}, Stdout: &out, Stderr: &errs, Timeout: strandtest.Timeout,
	})
	require.Error(t, err)
	// Rank 0 prints it if it is not ended before, and the error tells who ended the job.
	assert.Contains(t, errs.String()+err.Error(), "/nonexistent")
}
