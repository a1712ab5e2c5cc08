package live

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// serve answers every question about a job.
func serve(t *testing.T, dir, name string, answer func(net.Conn)) net.Listener {
	t.Helper()
	l, err := Listen(dir, name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
		}
	}()
	return l
}

// A launcher that begins takes away what those that were killed have left, and disturbs none that lives.
func TestListenSweeps(t *testing.T) {
	leak.Check(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	asked := make(chan struct{}, 1)
	serve(t, dir, "lives", func(net.Conn) { asked <- struct{}{} })
	killed := serve(t, dir, "killed", func(net.Conn) {})
	require.NoError(t, killed.(*listener).Listener.Close(), "without its socket being removed")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))

	l := serve(t, dir, "new", func(net.Conn) {})
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	assert.Equal(t, []string{"file", "lives", "new"}, names)
	assert.Empty(t, asked)
	require.NoError(t, l.Close())
}

func TestJobs(t *testing.T) {
	leak.Check(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	none, err := Jobs(dir)
	require.NoError(t, err)
	assert.Empty(t, none)

	want := Answer{Job: Job{Name: "a", PID: 7, Program: "ring", Size: 2}, Ranks: []Rank{
		{Rank: 0, PID: 8, Report: json.RawMessage(`{"Rails":null}`)}, {Rank: 1, PID: 9, Silent: "it is stopped"},
	}}
	serve(t, dir, "a", func(c net.Conn) { Tell(c, want.Job, want.Ranks) })
	serve(t, dir, "b", func(c net.Conn) { _ = c.Close() })
	serve(t, dir, "cut", func(c net.Conn) { Tell(c, want.Job, want.Ranks[:1]) })
	killed := serve(t, dir, "c", func(net.Conn) {})
	require.NoError(t, killed.(*listener).Listener.Close(), "without its socket being removed")

	require.NoError(t, os.WriteFile(filepath.Join(dir, unborn+"d"), nil, 0o600), "a job that is about to listen")

	all, err := Jobs(dir)
	assert.ErrorContains(t, err, "job b: it ended before it had answered")
	assert.ErrorContains(t, err, "job cut: it ended after 1 of its 2 ranks")
	assert.Equal(t, []Answer{want}, all)
	_, err = os.Lstat(filepath.Join(dir, "c"))
	assert.ErrorIs(t, err, os.ErrNotExist, "nobody answers for it any more")
	_, err = os.Lstat(filepath.Join(dir, unborn+"d"))
	assert.NoError(t, err)
}

// A job that ends while it is asked is none any more.
func TestJobsThatEndMeanwhile(t *testing.T) {
	leak.Check(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	serve(t, dir, "a", func(c net.Conn) {
		_ = os.Remove(filepath.Join(dir, "a")) // as its listener does that is closed
		_ = c.Close()
	})
	all, err := Jobs(dir)
	require.NoError(t, err)
	assert.Empty(t, all)
}

// A folder that others may look into, or have made, is not used.
func TestOnlyAPrivateFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err := Listen(dir, "a")
	assert.ErrorContains(t, err, "alone")
	_, err = Jobs(dir)
	assert.ErrorContains(t, err, "alone")
	link := filepath.Join(t.TempDir(), "link")
	private := t.TempDir()
	require.NoError(t, os.Chmod(private, 0o700))
	require.NoError(t, os.Symlink(private, link))
	_, err = Listen(link, "a")
	assert.ErrorContains(t, err, "alone")
}

func TestDir(t *testing.T) {
	own, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_RUNTIME_DIR", own)
	assert.Equal(t, filepath.Join(own, "strand"), Dir())
	for _, unfit := range []string{"", "relative", "/nowhere/user/7", "/" + strings.Repeat("x", longestDir)} {
		t.Setenv("XDG_RUNTIME_DIR", unfit)
		assert.Equal(t, temporary, filepath.Dir(Dir()), unfit)
	}
	require.NoError(t, os.Chmod(Dir(), 0o755), "as if others may look into it")
	t.Setenv("XDG_RUNTIME_DIR", "/nowhere/user/7")
	assert.Equal(t, "/nowhere/user/7/strand", Dir(), "the error is about the best")
}

// A folder that somebody else has made hides no job in the other one.
func TestJobsOfAllDirs(t *testing.T) {
	own, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_RUNTIME_DIR", own)
	for i, dir := range Dirs() {
		name := string(rune('a' + i))
		serve(t, dir, name, func(c net.Conn) { Tell(c, Job{Name: name}, nil) })
	}
	all, err := AllJobs()
	require.NoError(t, err)
	assert.Equal(t, []Answer{{Job: Job{Name: "a"}}, {Job: Job{Name: "b"}}}, all)
	require.NoError(t, os.Chmod(Dirs()[1], 0o777))
	all, err = AllJobs()
	require.NoError(t, err)
	assert.Equal(t, []Answer{{Job: Job{Name: "a"}}}, all)
	t.Setenv("XDG_RUNTIME_DIR", "")
	_, err = AllJobs()
	assert.ErrorContains(t, err, "alone")
}

// A umask that takes from the owner as well takes nothing from the folder and the socket, which outlives that process.
func TestUmaskOfTheOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	before := syscall.Umask(0o777)
	l, err := Listen(dir, "a")
	syscall.Umask(before)
	require.NoError(t, err)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "a"): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), path)
	}
	require.NoError(t, l.Close())
}

// Where TMPDIR names a folder that is not there, or whose path is too long for a socket, jobs are known in the system's.
func TestNoFolderForTemporaryFiles(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	long := filepath.Join(t.TempDir(), strings.Repeat("x", longestDir))
	require.NoError(t, os.Mkdir(long, 0o700))
	for _, dir := range []string{filepath.Join(t.TempDir(), "nowhere"), long} {
		t.Setenv("TMPDIR", dir)
		dirs := Dirs()
		require.Len(t, dirs, 1)
		assert.Equal(t, "/tmp", filepath.Dir(dirs[0]))
	}
}
