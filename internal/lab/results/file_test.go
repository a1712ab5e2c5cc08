package results_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
)

func TestWhatIsSavedIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	want := synthetic()
	require.NoError(t, results.Save(path, want))
	got, err := results.Load(path)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// Again, over the old one, and nothing else is left in the folder.
	want.Interrupted = true
	require.NoError(t, results.Save(path, want))
	got, err = results.Load(path)
	require.NoError(t, err)
	assert.True(t, got.Interrupted)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestNothingIsLeftWhereAFileCanNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.json")
	require.NoError(t, os.Mkdir(path, 0o755)) // in the way
	require.Error(t, results.Save(path, synthetic()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// Who may read results is said by the umask.
func TestRightsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	for mask, rights := range map[int]os.FileMode{0o077: 0o600, 0o002: 0o664} {
		before := syscall.Umask(mask)
		err := results.WriteFile(path, nil)
		syscall.Umask(before)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, rights, info.Mode())
	}
}

// A disk that is full is told by the name of the file that people know.
func TestErrorsOfFilesThatCanNotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "results.json")
	assert.EqualError(t, results.WriteFile(path, nil), "write "+path+": no such file or directory")
	path = filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, os.Mkdir(path, 0o755)) // in the way
	assert.EqualError(t, results.WriteFile(path, nil), "write "+path+": file exists")
}

func TestWhatIsWrongIsNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	r := synthetic()
	r.Cells[0].Runs[0].Metrics[results.Throughput] = math.NaN()
	assert.ErrorContains(t, results.Save(path, r), "cells[0].runs[0].metrics.throughput is NaN")
	assert.NoFileExists(t, path)
}

func TestErrorsOfFilesSayWhereAndWhatIsWanted(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "is not the results.json of strand compare"},
		{"text", "hello\n", "line 1, byte 1"},
		{"no format", "{}", `has no "format": want the results.json`},
		{"later", `{"format":99}`, "has format 99, this strand reads formats 1 to 2: use the strand that wrote it"},
		{"kind", "{\"format\":1,\n\"runs\":\"many\"}", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := results.Load(path)
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, path)
		})
	}
	_, err := results.Load(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What an older strand has measured can be drawn by this one.
func TestOlderFormatsAreRead(t *testing.T) {
	text, err := json.Marshal(synthetic())
	require.NoError(t, err)
	r, err := results.Read(bytes.NewReader(bytes.Replace(text, []byte(`{"format":2`), []byte(`{"format":1`), 1)))
	require.NoError(t, err)
	assert.Equal(t, 1, r.Format, "it says by which rules it was measured")
	assert.NoError(t, results.Save(filepath.Join(t.TempDir(), "results.json"), r))
	_, err = results.Read(strings.NewReader(`{"format":0}`))
	assert.ErrorContains(t, err, "has format 0")
}

// A field that this version does not know is no error: later ones may add some.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	text, err := json.Marshal(synthetic())
	require.NoError(t, err)
	text = bytes.Replace(text, []byte(`{"format":2`), []byte(`{"mood":"good","format":2`), 1)
	_, err = results.Read(bytes.NewReader(text))
	assert.NoError(t, err)
}

func FuzzRead(f *testing.F) {
	text, err := json.Marshal(synthetic())
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"format":1,"runs":1,"links":{"kind":"netem"},"variants":[{"name":"a"}]}`))
	f.Add([]byte(strings.Repeat("[", 10000)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := results.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		// What was read can be written, and is then the same.
		again, err := json.Marshal(r)
		require.NoError(t, err)
		back, err := results.Read(bytes.NewReader(again))
		require.NoError(t, err)
		thrice, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(again), string(thrice))
		for i := range r.Cells {
			require.NotEmpty(t, r.Cells[i].Key())
		}
		over, all := r.Progress()
		assert.LessOrEqual(t, over, all)
	})
}
