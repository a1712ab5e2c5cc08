// Package live is how "strand info --live" finds the jobs that this user runs on
// this host, and asks them how they stand.
//
// "strand run" listens on a socket in a folder that only this user may look into. Whoever
// connects gets lines of JSON: a [Job], then a [Rank] for each of its ranks. Nothing happens
// until somebody asks. A launcher that was killed leaves its socket behind; whoever finds that
// nobody answers there removes it, and so does the next launcher.
package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Job is what a launcher tells of itself.
type Job struct {
	Name    string    `json:"job"`
	PID     int       `json:"pid"` // of the launcher
	Program string    `json:"program"`
	Host    string    `json:"host"`
	Size    int       `json:"ranks"`
	Started time.Time `json:"started"`
}

// A Rank is what the launcher knows of a rank.
type Rank struct {
	Rank   int             `json:"rank"`
	PID    int             `json:"pid"`
	Report json.RawMessage `json:"report,omitempty"`
	Host   string          `json:"host,omitempty"`   // where it runs, if that is not where its launcher does
	Silent string          `json:"silent,omitempty"` // why there is no report
	Ended  bool            `json:"ended,omitempty"`  // it has ended, or has left the job
}

// An Answer is all that a launcher tells.
type Answer struct {
	Job
	Ranks []Rank `json:"rank_reports"`
}

// Dirs returns the folders in which this user's jobs may be known, the best first: one below XDG_RUNTIME_DIR, which is
// the user's own, and one in the folder for temporary files.
func Dirs() []string {
	dirs := []string{temporary(fmt.Sprintf("strand-%d", os.Getuid()))}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append([]string{filepath.Join(dir, "strand")}, dirs...)
	}
	return dirs
}

// temporary is a path in the folder for temporary files: in that of the system if what TMPDIR names is not there, is closed to
// this user, or is too long.
func temporary(name string) string {
	dir := os.TempDir()
	path := filepath.Join(dir, name)
	if unix.Access(dir, unix.W_OK|unix.X_OK) != nil || len(path) > longestDir {
		return filepath.Join("/tmp", name)
	}
	return path
}

// Dir returns the first of [Dirs] that a job can use, and makes it if need be. XDG_RUNTIME_DIR may name a folder that is not there,
// as in a batch job, or another user's, after su; and either may be too long for a socket. If there is none it is the first.
func Dir() string {
	dirs := Dirs()
	for _, dir := range dirs {
		if err := ready(dir); err == nil && len(dir) <= longestDir {
			return dir
		}
	}
	return dirs[0]
}

// longestDir leaves room for the names of sockets: a path of 103 bytes is what all systems take.
const longestDir = 103 - len("/.strand_0123456789abcdef")

// ready makes a folder if need be, and checks that it is private.
func ready(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // a folder is entered; the umask may have closed it to its owner
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return private(dir)
}

// Listen makes a job known in a folder, which it creates if need be. Closing the listener
// removes the job's socket.
func Listen(dir, job string) (net.Listener, error) {
	if err := ready(dir); err != nil {
		return nil, err
	}
	// A socket that does not listen yet looks like one that was left behind. So it gets its name
	// only when it listens.
	early, path := filepath.Join(dir, unborn+job), filepath.Join(dir, job)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: early, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(early, 0o600) // the umask may have closed it to its owner
	if err == nil {
		err = os.Rename(early, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(early))
	}
	sweep(dir)
	return &listener{l, path}, nil
}

// sweep removes the sockets of launchers that were killed.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir) // what can not be read stays
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.Type()&os.ModeSocket != 0 && !strings.HasPrefix(entry.Name(), unborn) && left(path) {
			_ = os.Remove(path)
		}
	}
}

// left reports whether a socket is nobody's any more. It asks for another kind of socket, which a launcher that lives does not notice:
// the system says that this one is of the wrong kind.
func left(path string) bool {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// unborn begins the names of sockets that do not listen yet.
const unborn = "."

// A listener takes its socket away when it is closed.
type listener struct {
	net.Listener
	path string
}

func (l *listener) Close() error {
	return errors.Join(os.Remove(l.path), l.Listener.Close())
}

// private checks that the folder belongs to this user and that nobody else may look into it. In
// a folder for temporary files anybody may have made it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !known || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s: is not a folder that belongs to user %d alone (mode %v): remove it", dir, os.Getuid(), info.Mode())
	}
	return nil
}

// Tell answers a question, and closes the connection.
func Tell(conn net.Conn, job Job, ranks []Rank) {
	defer conn.Close()
	// Whoever asks may go away, or not read, at any time.
	_ = conn.SetDeadline(time.Now().Add(tellTimeout))
	out := json.NewEncoder(conn)
	if out.Encode(job) != nil {
		return
	}
	for _, r := range ranks {
		if out.Encode(r) != nil {
			return
		}
	}
}

const (
	tellTimeout = 10 * time.Second
	maxLine     = 16 << 20
)

// AllJobs asks the jobs of all [Dirs]. A folder that is not this user's is passed over if there is
// another one: anybody may have made it.
func AllJobs() ([]Answer, error) {
	var all []Answer
	var failures []error
	dirs := Dirs()
	for _, dir := range dirs {
		answers, err := Jobs(dir)
		all = append(all, answers...)
		if len(dirs) == 1 || private(dir) == nil {
			failures = append(failures, err)
		}
	}
	return all, errors.Join(failures...)
}

// Jobs asks all jobs of a folder. It removes a socket that no launcher answers at, and passes over jobs that
// end meanwhile. Any other failure of a job is in the error, beside the answers of the others.
func Jobs(dir string) ([]Answer, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = private(dir)
	}
	if err != nil {
		return nil, err
	}
	var all []Answer
	var failures []error
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), unborn) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		answer, err := ask(path)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.Remove(path) // its launcher was killed
		case errors.Is(err, os.ErrNotExist):
		case err != nil && isGone(path): // as a launcher's is that has come to its end
		case err != nil:
			failures = append(failures, fmt.Errorf("job %s: %w", entry.Name(), err))
		default:
			all = append(all, answer)
		}
	}
	return all, errors.Join(failures...)
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// ask asks one launcher.
func ask(path string) (Answer, error) {
	var a Answer
	conn, err := net.DialTimeout("unix", path, tellTimeout)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(tellTimeout)) // fails only if closed
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		return a, errors.Join(errors.New("it ended before it had answered"), lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &a.Job); err != nil {
		return a, err
	}
	for lines.Scan() {
		var r Rank
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return a, err
		}
		a.Ranks = append(a.Ranks, r)
	}
	if err := lines.Err(); err != nil || len(a.Ranks) < a.Size {
		return a, errors.Join(fmt.Errorf("it ended after %d of its %d ranks", len(a.Ranks), a.Size), err)
	}
	return a, nil
}
