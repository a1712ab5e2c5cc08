package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return "not found in PATH; did you mean ./" + name + "?"
	}
	return "not found in PATH, nor in the working directory"
}

// refusal explains why a file that exists can not be run.
func Refusal(name string, err error) error {
	info, statErr := os.Stat(name)
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return &ProgramError{name, "is neither a program for this machine nor a script that starts with #!", notExecutable}
	case statErr == nil && info.IsDir():
		return &ProgramError{name, "is a directory; name the program in it", notExecutable}
	case statErr == nil && info.Mode().Perm()&0o111 == 0:
		return &ProgramError{name, "is not executable; to make it so: chmod +x " + name, notExecutable}
	}
	return &ProgramError{name, fmt.Sprintf("can not be run: %v", err), notExecutable}
}
