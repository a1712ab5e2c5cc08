package remote

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/machine"
)

// A Host is where ranks can run, and how to get there.
type Host struct {
	Name string
	// Shell is a command that takes a host's name and a command line, which it runs there with its
	// own standard streams: ssh. Where its words have {host} and {command}, those stand for the
	// two, which else follow as its last words. Without words the host is this one, and there is
	// no shell.
	Shell []string
	// Program is strand there.
	Program string
	// Carry has strand brought there for this job: Program then is a file of this host.
	Carry bool
	// Patience is how long strand there may take to introduce itself.
	Patience time.Duration
}

// Arguments are the command line with which strand there calls [Serve]. What follows
// CarriedArgument is the folder that strand was brought in.
var Arguments = []string{"run-elsewhere"}

// CarriedArgument says that strand was brought there.
const CarriedArgument = "--carried"

// An Introduction is what strand on another host says first.
type Introduction struct {
	Build   string          `json:"strand"`
	Machine machine.Machine `json:"machine"`
}

// command returns the words that start strand there.
func (h Host) command() ([]string, error) {
	if len(h.Shell) == 0 {
		return append([]string{h.Program}, Arguments...), nil
	}
	line := strings.Join(append([]string{word(h.Program)}, Arguments...), " ")
	if h.Carry {
		info, err := os.Stat(h.Program)
		if err != nil {
			return nil, err
		}
		line = carried(info.Size())
	}
	words, placed := make([]string, 0, len(h.Shell)+2), false
	for _, w := range h.Shell {
		placed = placed || strings.Contains(w, "{command}")
		words = append(words, strings.NewReplacer("{host}", h.Name, "{command}", line).Replace(w))
	}
	if !placed {
		words = append(words, h.Name, line)
	}
	return words, nil
}

// carried returns the command line that takes so many bytes from its input for strand, and runs
// it, in a folder of its own. Strand removes the folder, or else the shell does as it ends: by a signal, or
// when strand was killed. The shell knows the folder's name before there is one, as a signal may come in between.
// What comes after those bytes is not there yet, so it does no harm that head reads ahead.
func carried(size int64) string {
	return fmt.Sprintf(`umask 077; d="${TMPDIR:-/tmp}/strand-%s"; trap 'rm -rf "$d"' EXIT; trap 'exit 1' HUP INT TERM; mkdir "$d" && head -c %d >"$d/strand" && chmod 700 "$d/strand" && "$d/strand" %s %s "$d"`,
		rand.Text(), size, strings.Join(Arguments, " "), CarriedArgument)
}

// deliver brings strand there, if it is to be brought.
func (h Host) deliver(to io.Writer) error {
	if !h.Carry || len(h.Shell) == 0 {
		return nil
	}
	f, err := os.Open(h.Program)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// word quotes a path for the shell of the other host, which splits at blanks. A path without
// such characters stays as it is: the shell there may know ~ and $HOME.
func word(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\;&|<>()*?[]") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// explain says why nobody answered.
func (h Host) explain(words []string, build string, err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("host %s: %w; --rsh is a command that takes a host's name and a command line, such as ssh", h.Name, err)
	}
	how := fmt.Sprintf("this takes %s as %s there; --host-strand names another place, --push brings it there", build, h.Program)
	if h.Carry {
		how = fmt.Sprintf("%s, a program for %s/%s, was to be brought there", filepath.Base(h.Program), runtime.GOOS, runtime.GOARCH)
	}
	if said != "" {
		said = "\n" + said
	}
	return fmt.Errorf("host %s: no strand by %.200q: %w; %s%s", h.Name, strings.Join(words, " "), err, how, said)
}
