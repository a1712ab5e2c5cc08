package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/machine"
)

// A Host is where ranks can run, and how to get there.
type Host struct {
	Name string `json:"name"`
	// Shell is a command that takes a host's name and a command line, which it runs
	// there with its own standard streams: ssh.
	Shell []string `json:"shell"`
	// Program is this program there.
	Program string `json:"program"`
	// Patience is how long the program there may take to introduce itself.
	Patience time.Duration `json:"patience"`
}

// Arguments are the command line with which the program there calls [Answer].
var Arguments = []string{"compare", "elsewhere"}

// An Introduction is what the program on another host says first.
type Introduction struct {
	Build   string          `json:"strand"` // of the program there
	Machine machine.Machine `json:"machine"`
}

// Ask starts the program on the host and returns its introduction, after which the program ends.
// It is an error if the program is not of the given build.
func Ask(ctx context.Context, h Host, build string) (Introduction, error) {
	said := lines.NewBeginning(4 << 10)
	l, err := h.open(ctx, build, func(cmd *exec.Cmd) {
		cmd.Stderr = said
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	})
	if err != nil {
		if text := said.String(); text != "" {
			err = fmt.Errorf("%w\n%s", err, text)
		}
		return Introduction{}, err
	}
	return l.peer, l.end()
}

// A line is the connection, over a remote shell, to the program on a host.
type line struct {
	host Host
	cmd  *exec.Cmd
	stop context.CancelFunc
	out  io.WriteCloser
	in   *bufio.Reader
	peer Introduction
}

// partTime is how long the remote shell may take to end after its input has ended.
const partTime = 5 * time.Second

// open starts the program on the host and hears its introduction.
func (h Host) open(ctx context.Context, build string, prepare func(*exec.Cmd)) (*line, error) {
	ctx, stop := context.WithCancel(ctx)
	words := append(append(append([]string{}, h.Shell...), h.Name, word(h.Program)), Arguments...)
	l := &line{host: h, cmd: exec.CommandContext(ctx, words[0], words[1:]...), stop: stop}
	l.cmd.WaitDelay = partTime
	prepare(l.cmd)
	var out io.Reader
	var err error
	if l.out, err = l.cmd.StdinPipe(); err == nil {
		out, err = l.cmd.StdoutPipe()
	}
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("host %s: %w; --rsh is a command that takes a host's name and a command line, such as ssh", h.Name, err)
	}
	l.in = bufio.NewReaderSize(out, longest)
	hurry := time.AfterFunc(h.Patience, stop)
	err = l.hear(build)
	late := !hurry.Stop()
	if err == nil {
		return l, nil
	}
	ended := l.end()
	switch {
	case late:
		err = fmt.Errorf("nothing within %v", h.Patience)
	case ended != nil && errors.Is(err, io.EOF):
		err = ended
	case errors.Is(err, io.EOF):
		err = errors.New("it ended without a word")
	}
	return nil, fmt.Errorf("host %s: no strand there by %q: %w; this takes %s as %s there; --host-strand names another place",
		h.Name, strings.Join(words, " "), err, build, h.Program)
}

// word quotes a path for the shell of the other host, which splits at blanks. A path without
// such characters stays as it is: the shell there may know ~ and $HOME.
func word(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\;&|<>()*?[]") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// hear reads the introduction.
func (l *line) hear(build string) error {
	text, err := l.in.ReadSlice('\n')
	if err != nil && (len(text) == 0 || !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull)) {
		return io.EOF
	}
	if err := json.Unmarshal(text, &l.peer); err != nil || l.peer.Build == "" {
		return fmt.Errorf("it said %q, which strand would not; if it is a greeting of the shell's, that has to go", text[:min(len(text), 80)])
	}
	if l.peer.Build != build {
		return fmt.Errorf("it is another one, %.80q", l.peer.Build)
	}
	return nil
}

// end closes the line and says how the remote shell ended.
func (l *line) end() error {
	_ = l.out.Close()
	hurry := time.AfterFunc(partTime, l.stop)
	defer hurry.Stop()
	defer l.stop()
	return l.cmd.Wait()
}
