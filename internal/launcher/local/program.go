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

// findProgram returns the path to run, or a *ProgramError that says what is
// wrong with it.
func findProgram(name string) (string, error) {
	if name == "" {
		return "", &UsageError{`no program given: strand run -n 4 ./program arguments…`}
	}
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
	return "", refusal(name, err)
}

func missingRemedy(name string) string {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return "not found in PATH; did you mean ./" + name + "?"
	}
	return "not found in PATH, nor in the working directory"
}

// refusal explains why a file that exists can not be run.
func refusal(name string, err error) error {
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
