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
	"slices"
	"strconv"
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
	// Carriable says that the user can have it brought there, by --push. Not every command has that.
	Carriable bool
	// Patience is how long strand there may take to introduce itself.
	Patience time.Duration
	// Timeout is how long the launcher then goes without a sign of life before it gives the host up;
	// 0: DefaultTimeout. Strand there waits three times as long for one of the launcher.
	Timeout time.Duration
}

// DefaultShell is how to get to a host if nothing else is said. It never asks anything: a prompt of one of many hosts would be missed.
// And it lends its connection to no other ssh, as a user's configuration may have it: that of another job would be cut off
// with the end of this one. What users have it do for them when they log in is not for a job: a terminal (RequestTTY) would change
// bytes, and of several logins only one can listen at a port that is forwarded.
const DefaultShell = "ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o ControlMaster=no -o ClearAllForwardings=yes"

// Arguments are the command line with which strand there calls [Serve]. More of it is a [Call].
var Arguments = []string{"run-elsewhere"}

// The flags of a [Call].
const (
	timeoutFlag = "host-timeout"
	carriedFlag = "carried"
)

// arguments returns the words behind strand's name there.
func (h Host) arguments() []string {
	if h.Timeout <= 0 || h.Timeout == DefaultTimeout {
		return Arguments
	}
	return append(slices.Clone(Arguments), "--"+timeoutFlag, h.Timeout.String())
}

// An Introduction is what strand on another host says first.
type Introduction struct {
	Build   string          `json:"strand"`
	Machine machine.Machine `json:"machine"`
}

// command returns the words that start strand there.
func (h Host) command() ([]string, error) {
	if len(h.Shell) == 0 {
		return append([]string{h.Program}, h.arguments()...), nil
	}
	line := strings.Join(append([]string{word(h.Program)}, h.arguments()...), " ")
	if h.Carry {
		info, err := os.Stat(h.Program)
		if err != nil {
			return nil, err
		}
		// A user's login shell may be csh or fish, which have words, quotes and exec in common with sh.
		line = "exec sh -c " + quoted(h.carried(info.Size()))
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

// bringing is the command line that takes strand from its input and runs it in a folder of its own, in steps. Strand
// removes the folder, or else the shell does as it ends: by a signal, when not all has come, or when strand was killed.
//
//   - The shell knows the folder's name before there is one, as a signal may come in between.
//   - It makes the file itself. A process that it has just begun would make it at a time of its own, which may be in
//     the midst of the removal.
//   - Nothing disturbs the removal: a second signal would end rm too.
//   - Until it knows the number of head it only notes that a signal has come.
//   - Head is killed by a signal that can not be lost. One that comes to a process as it is begun, and still is a copy of
//     its shell, is taken by the shell's trap there, and dash forgets it.
//
// Csh takes an exclamation mark for an event's, even within quotes, unless there is a blank behind it.
//
// What comes after strand's bytes is not there yet, so it does no harm that head reads ahead. Nobody tells the shell that the
// launcher's host is cut off, so a second process ends head when nothing more comes. It removes the folder
// if the shell was killed.
var bringing = []string{
	`umask 077; d="${TMPDIR:-/tmp}/strand-{name}"; h=; x=; exec 3<&0; `,
	`trap 'trap "" HUP INT QUIT PIPE TERM; [ -z "$h" ] || kill -9 $h 2>/dev/null; rm -rf "$d"' EXIT; `,
	`trap x=1 HUP INT QUIT PIPE TERM; `,
	`mkdir "$d" || exit 1; `,
	`exec 4>"$d/part" || exit 1; `,
	`head -c {size} <&3 >&4 3<&- 4>&- & `,
	`h=$! ; `,
	`trap 'exit 1' HUP INT QUIT PIPE TERM; [ -z "$x" ] || exit 1; `,
	`exec 4>&-; `,
	`{ i=0; n=; while [ -e "$d/part" ]; do kill -0 $h || h=; kill -0 $$ || { kill -9 $h; rm -rf "$d"; exit; }; ` +
		`s=$(wc -c <"$d/part"); [ "$s" = "$n" ] || i=0; n=$s; ` +
		`[ $i -lt {seconds} ] || kill -9 $h; i=$((i+1)); sleep 1; done; } </dev/null >/dev/null 2>&1 3<&- & `,
	`wait $h; `,
	`s=$?; h=; exec 3<&-; `,
	`[ $s = 0 ] && [ $(wc -c <"$d/part") = {size} ] && chmod 700 "$d/part" && mv "$d/part" "$d/strand" && "$d/strand" {arguments} "$d"`,
}

// carried returns the command line that brings strand there, which is so long.
func (h Host) carried(size int64) string {
	return strings.NewReplacer("{name}", rand.Text(), "{size}", strconv.FormatInt(size, 10),
		"{seconds}", strconv.Itoa(int((min(h.Patience, farBeats*beatOf(h.Timeout))+time.Second-1)/time.Second)),
		"{arguments}", strings.Join(append(h.arguments(), "--"+carriedFlag), " ")).Replace(strings.Join(bringing, ""))
}

// deliver brings strand there, if it is to be brought. It calls on with each piece that was taken.
func (h Host) deliver(to io.Writer, on func()) error {
	if !h.Carry || len(h.Shell) == 0 {
		return nil
	}
	f, err := os.Open(h.Program)
	if err != nil {
		return err
	}
	defer f.Close()
	for err == nil {
		_, err = io.CopyN(to, f, 1<<20)
		on()
	}
	return unlessEnd(err)
}

// word quotes a path for the shell of the other host, which splits at blanks. A path without
// such characters stays as it is: the shell there may know ~ and $HOME.
func word(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\;&|<>()*?[]") {
		return path
	}
	return quoted(path)
}

// quoted makes one word of a text, for any shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// explain says why nobody answered.
func (h Host) explain(words []string, build string, err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("host %s: %w; --rsh is a command that takes a host's name and a command line, such as ssh", h.Name, err)
	}
	how := fmt.Sprintf("; this takes %s as %s there; --host-strand names another place", build, h.Program)
	if h.Carriable {
		how += ", --push brings it there"
	}
	switch {
	case errors.Is(err, errStopped): // strand there is not to blame
		how = ""
	case h.Carry:
		how = fmt.Sprintf("; %s, a program for %s/%s, was to be brought there, into a folder from which programs may be run, as TMPDIR there, or else /tmp, should be", filepath.Base(h.Program), runtime.GOOS, runtime.GOARCH)
	}
	away := turnsAway(words, err, said)
	if said != "" {
		said = "\n" + said
	} else if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == sshsOwn && filepath.Base(words[0]) == "ssh" {
		err = fmt.Errorf("%w, which is ssh's own, and its word for a program that a signal has ended", err)
	}
	err = fmt.Errorf("host %s: no strand by %.200q: %w%s%s", h.Name, strings.Join(words, " "), err, how, said)
	if away {
		return &turnedAway{err}
	}
	return err
}
