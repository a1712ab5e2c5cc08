package job

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// MaxRanks bounds a job on one host: more is a slip of the finger.
const MaxRanks = 4096

// DefaultGrace is the time between asking a rank to end (SIGTERM) and ending it
// (SIGKILL). Short enough that a job is over within a second of a failure.
const DefaultGrace = 500 * time.Millisecond

// grace is how long a rank has that was asked to end.
func (c *Config) grace() time.Duration {
	if c.Grace == 0 {
		return DefaultGrace
	}
	return c.Grace
}

// minHostTimeout leaves signs of life time to arrive.
const minHostTimeout = 100 * time.Millisecond

// A Config says what to run and how. Program and Ranks are needed; all else has
// a useful zero value.
type Config struct {
	Ranks   int
	Program string   // a path, or a name that is looked up in PATH
	Args    []string // without the program's own name

	// Prefix, if given, returns the words to put before a rank's command line: a program that
	// brings the rank to where it is to run, by its path, and its arguments. That program must
	// turn into the rank's (exec), not start it as a child. Each rank then counts as alone on
	// its host.
	Prefix func(rank int) []string
	// Hostname, if given, names the host to which Prefix leads; else it is this one.
	Hostname func(rank int) string

	// Elsewhere, if given, are the hosts on which the ranks run, and which of them where. Prefix and
	// Hostname are not used then. The ranks get the environment of a shell on their host, what
	// Environ adds, and Strand's own parameters.
	Elsewhere []Share
	// Build is what strand on other hosts has to be, to the letter.
	Build string
	// Dir is the working directory there.
	Dir string
	// Push brings the program there.
	Push bool
	// HostTimeout is how long the launcher goes without a sign of life from a host before its ranks
	// are lost. Ranks there end after three times as long without one from the launcher, unless that
	// has said that it is stopped. 0: [remote.DefaultTimeout].
	HostTimeout time.Duration

	// Bind binds each rank to a processor, those that this process may use in turn. Only Linux
	// does so.
	Bind bool

	// Environ adds to this process's environment: "NAME=VALUE" sets, "NAME"
	// demands that it is set already.
	Environ []string

	// Flags are parameters from the command line. The ranks find them in their environment
	// ([param.FlagsEnv]). Validate, if given, checks them, and the rest of that environment,
	// before anything starts: a mistake is told once, and not by every rank.
	Flags    []param.Setting
	Validate func(flags []param.Setting, environ []string) error

	// Stdin goes to rank 0; the others, or all if it is nil, read from
	// /dev/null.
	Stdin *os.File

	// Stdout and Stderr get the ranks' output in whole lines; nil discards it. A terminal also
	// gets a line that stays unfinished for a while. Both may be the same writer: then one
	// goroutine writes to it at a time. Run waits for a write that does not end, unless Timeout
	// is over, the context ends, a second SIGINT or SIGTERM comes, or a signal comes after all
	// ranks have ended. Then it leaves the write behind.
	Stdout, Stderr io.Writer
	TagOutput      bool // start each line with its rank: "[3] "

	// Verbose tells on Stderr what the launcher does, line by line.
	Verbose bool

	// Signals are passed on to all ranks as they come. A second SIGINT or SIGTERM ends the job
	// at once, without waiting for readers of its output.
	Signals <-chan os.Signal
	// Suspend, if given, is called after SIGTSTP was passed on. It stops this process, and
	// returns when the process goes on. The ranks then get SIGCONT.
	Suspend func()

	// LiveDir is the folder with the socket at which "strand info --live" asks about the job;
	// "": there is none.
	LiveDir string

	// Trace is a file that gets what each rank has done with its messages, for Perfetto; "": none.
	// TraceBuffer is how many bytes each rank keeps of it; 0: [trace.DefaultSize], and less where
	// there are more than eight.
	Trace       string
	TraceBuffer int64

	Timeout time.Duration // ends the job; 0: none
	overdue chan struct{} // a test says by it that Timeout is over
	Grace   time.Duration // 0: DefaultGrace

	// KeepGoing lets the others go on when a rank fails. They are told at once
	// ([launch.Listener]), and a barrier that waits for the failed rank fails. Without it the
	// others get SIGTERM, and are told too: they may outlive the signal for a while, to save
	// what they have.
	KeepGoing bool
}

// A Share is the ranks of one host, in order.
type Share struct {
	Host  remote.Host
	Ranks []int
}

func (c *Config) check() error {
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		return &UsageError{fmt.Sprintf("-n %d: want 1 to %d ranks", c.Ranks, MaxRanks)}
	}
	if c.Program == "" {
		return &UsageError{"no program given: strand run -n 4 ./program arguments…"}
	}
	if c.Timeout < 0 {
		return &UsageError{fmt.Sprintf("--timeout %v: want a time above 0, or leave it out for none", c.Timeout)}
	}
	if c.HostTimeout < 0 || c.HostTimeout > 0 && c.HostTimeout < minHostTimeout {
		return &UsageError{fmt.Sprintf("--host-timeout %v: want %v or more", c.HostTimeout, minHostTimeout)}
	}
	if c.Grace < 0 {
		return &UsageError{fmt.Sprintf("--grace %v: want 0 or more", c.Grace)}
	}
	if size := c.traceSize(); size != 0 && (size < trace.MinSize || size > trace.MaxSize) {
		return &UsageError{fmt.Sprintf("--trace-buffer %s: want %s to %s", param.FormatSize(size), param.FormatSize(trace.MinSize), param.FormatSize(trace.MaxSize))}
	}
	for _, entry := range c.Environ {
		if err := checkEnviron(entry); err != nil {
			return err
		}
	}
	if c.Validate != nil {
		return c.Validate(c.Flags, c.variables())
	}
	return nil
}

func checkEnviron(entry string) error {
	name, _, isSet := strings.Cut(entry, "=")
	switch {
	case name == "" || strings.Contains(entry, "\x00"):
		return &UsageError{fmt.Sprintf("--env %q: want NAME=VALUE, or NAME to pass on what is set", entry)}
	case local.IsOwnVariable(name):
		return &UsageError{fmt.Sprintf("--env %s: the launcher sets this variable itself", name)}
	case !isSet:
		if _, found := os.LookupEnv(name); !found {
			return &UsageError{fmt.Sprintf("--env %s: not set in this environment; give a value: --env %s=…", name, name)}
		}
	}
	return nil
}

// environ returns the variables that all ranks have in common.
func (c *Config) environ(job string) []string {
	env := append(c.variables(), launch.JobEnv+"="+job)
	if len(c.Flags) > 0 {
		env = append(env, param.FlagsEnv(c.Flags))
	}
	return env
}

// variables returns those of environ that the launcher does not add itself.
func (c *Config) variables() []string { return append(local.Environ(), c.settings()...) }

// settings returns the variables that Environ sets.
func (c *Config) settings() []string {
	var env []string
	for _, entry := range c.Environ {
		if strings.Contains(entry, "=") {
			env = append(env, entry) // of two entries the later counts
		}
	}
	return env
}
