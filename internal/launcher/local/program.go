package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Exit statuses of a launcher, as shells have them.
const (
	notExecutable = 126
	notFound      = 127
)

// A ProgramError is a program that can not be run.
type ProgramError struct {
	Program string
	reason  string
	status  int
}

func (e *ProgramError) Error() string { return fmt.Sprintf("program %q: %s", e.Program, e.reason) }

// ExitStatus is 127 if the program was not found, 126 if it can not be run.
func (e *ProgramError) ExitStatus() int { return e.status }

// Find returns the path to run, or a *ProgramError that says what is wrong with it.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", &ProgramError{name, "it is in the working directory, which PATH names; say so: ./" + name, notFound}
	case errors.Is(err, exec.ErrNotFound) && !strings.Contains(name, "/"):
		return "", &ProgramError{name, missingRemedy(name), notFound}
	case errors.Is(err, fs.ErrNotExist):
		return "", &ProgramError{name, "no such file: build it first? (go build -o " + name + " .)", notFound}
	}
	return "", Refusal(name, err)
}

func missingRemedy(name string) string {
	info, err := os.Stat(name)
	switch {
	case err == nil && isSource(name, info):
		return sourceRemedy(name)
	case err == nil && info.Mode().IsRegular():
		return "not found in PATH; did you mean ./" + name + "?"
	}
	return "not found in PATH, nor in the working directory"
}

// isSource says whether a file is one of Go's, which no system runs.
func isSource(name string, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && filepath.Ext(name) == ".go"
}

func sourceRemedy(name string) string {
	program := strings.TrimSuffix(filepath.Base(name), ".go")
	return "is source; build it first (go build -o " + program + " " + filepath.Clean(name) + ") and name ./" + program
}

// Refusal explains why a file that exists can not be run.
func Refusal(name string, err error) error {
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && isSource(name, info):
		return &ProgramError{name, sourceRemedy(name), notExecutable}
	case errors.Is(err, syscall.ENOEXEC):
		return &ProgramError{name, "is neither a program for this machine nor a script that starts with #!", notExecutable}
	case errors.Is(err, syscall.E2BIG):
		return &ProgramError{name, "its arguments and environment are too long for this system: give it less, or unset what it does not need (env -u NAME strand run …)", notExecutable}
	case statErr == nil && info.IsDir():
		return &ProgramError{name, "is a directory; name the program in it", notExecutable}
	case statErr == nil && info.Mode().Perm()&0o111 == 0:
		return &ProgramError{name, "is not executable; to make it so: chmod +x " + name, notExecutable}
	case errors.Is(err, syscall.EACCES) && noexec(name):
		return &ProgramError{name, "is in a file system that is mounted noexec; put it elsewhere", notExecutable}
	}
	if failed, is := errors.AsType[*fs.PathError](err); is && errors.Is(err, fs.ErrNotExist) {
		if reason := missingStarter(failed.Path); reason != "" {
			return &ProgramError{name, reason, notExecutable}
		}
	}
	return &ProgramError{name, fmt.Sprintf("can not be run: %v", err), notExecutable}
}

// longestStart is how much the kernel reads of a script's first line.
const longestStart = 256

// missingStarter says what is not there if that is not the file itself.
func missingStarter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, longestStart)
	n, _ := io.ReadFull(f, start) // a file may be shorter
	line, _, _ := strings.Cut(string(start[:n]), "\n")
	interpreter, script := strings.CutPrefix(line, "#!")
	switch words := strings.Fields(interpreter); {
	case !script:
		return "the loader of shared libraries that it was built for is not on this host; build it here, or without shared libraries (CGO_ENABLED=0)"
	case strings.HasSuffix(interpreter, "\r"):
		return "its lines end with CR LF, and so its interpreter is not found; to mend it: sed -i 's/\\r$//' " + path
	case len(words) > 0:
		return "its interpreter, " + words[0] + ", is not on this host"
	}
	return ""
}
