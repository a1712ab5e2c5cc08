//go:build linux

package netspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// enterFlag begins the first argument of a process that goes to a host and becomes another
// program there. Assignments for its environment follow, and then "--".
const enterFlag = "-netspace.enter="

// Start must be called first thing in main, before the arguments are looked at. It
// does not return in a process that [Space.Prefix] has started.
func Start() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], enterFlag) {
		err := execOn(strings.TrimPrefix(os.Args[1], enterFlag), os.Args[2:])
		fmt.Fprintln(os.Stderr, "strand: can not start a program:", err)
		if errors.Is(err, fs.ErrPermission) {
			os.Exit(126) // as shells have it
		}
		os.Exit(127)
	}
	arrive()
}

// Prefix returns what to put before a command line so that it runs on the host,
// with these variables ("NAME=VALUE") in its environment. The process stays the
// same one. It can be started as long as this process holds the host.
func (s *Space) Prefix(environ ...string) []string {
	// Not os.Executable: its directory may be closed to this user.
	prefix := []string{fmt.Sprintf("/proc/%s/exe", self()), enterFlag + path(s.net) + "," + path(s.uts)}
	return append(append(prefix, environ...), "--")
}

// Command returns a command that runs on the host.
func (s *Space) Command(program string, args ...string) *Cmd {
	argv := append(append(s.Prefix(), program), args...)
	return Bind(exec.Command(argv[0], argv[1:]...))
}

// path is where other processes find one of the files.
func path(f *os.File) string { return fmt.Sprintf("/proc/%s/fd/%d", self(), f.Fd()) }

// self is this process's number as /proc has it: that may show an outer process
// namespace.
func self() string {
	pid, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Sprint(os.Getpid())
	}
	return pid
}

// execOn turns this process into a program on a host.
func execOn(place string, args []string) error {
	runtime.LockOSThread()
	network, uts, _ := strings.Cut(place, ",")
	end := slices.Index(args, "--")
	if end < 0 || end == len(args)-1 {
		return fmt.Errorf("host %s: no program", place)
	}
	environ, args := args[:end], args[end+1:]
	var files [2]*os.File
	for i, name := range []string{network, uts} {
		var err error
		if files[i], err = os.Open(name); err != nil {
			return fmt.Errorf("host %s: it has ended with the process that made it: %w", place, err)
		}
	}
	if err := enter(files[0], files[1]); err != nil {
		return fmt.Errorf("host %s: %w", place, err)
	}
	host, _ := os.Hostname() // of a host that was entered the system knows it
	program, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("host %s: %w", host, err)
	}
	return fmt.Errorf("host %s: %s: %w", host, program, unix.Exec(program, args, append(os.Environ(), environ...)))
}
