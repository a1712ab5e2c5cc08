package local

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// MaxRanks bounds a job on one host: more is a slip of the finger.
const MaxRanks = 4096

// DefaultGrace is the time between asking a rank to end (SIGTERM) and ending it
// (SIGKILL). Short enough that a job is over within a second of a failure.
const DefaultGrace = 500 * time.Millisecond

// A Config says what to run and how. Program and Ranks are needed; all else has
// a useful zero value.
type Config struct {
	Ranks   int
	Program string   // a path, or a name that is looked up in PATH
	Args    []string // without the program's own name

	// Prefix, if given, returns what to put before a rank's command line, program
	// first, by its path: how the rank gets to where it is to run. It must
	// turn into the program, not start it. Such ranks are each on a host of its own.
	Prefix func(rank int) []string
	// Hostname, if given, names the host to which Prefix leads: else it is this one.
	Hostname func(rank int) string

	// Environ adds to this process's environment: "NAME=VALUE" sets, "NAME"
	// demands that it is set already.
	Environ []string

	// Flags are parameters from the command line, which the ranks find in their
	// environment ([param.FlagsEnv]). Validate, if given, refuses them, or what else
	// is in that environment, before anything starts: once, and not in every rank.
	Flags    []param.Setting
	Validate func(flags []param.Setting, environ []string) error

	// Stdin goes to rank 0; the others, or all if it is nil, read from
	// /dev/null.
	Stdin *os.File

	// Stdout and Stderr get whole lines of the ranks' output, a terminal also what stays
	// unfinished for a while; nil discards it. They may be the same writer, which is
	// written by one goroutine at a time. A write that does not end is left behind when the job is over by
	// Timeout, by a second signal or by its context.
	Stdout, Stderr io.Writer
	TagOutput      bool // start each line with its rank: "[3] "

	// Verbose tells on Stderr what the launcher does, line by line.
	Verbose bool

	// Signals are passed on to all ranks as they come. A second SIGINT or
	// SIGTERM ends the job at once, and does not wait for who reads its output.
	Signals <-chan os.Signal
	// Suspend, if given, is called when SIGTSTP was passed on: it stops this process,
	// and returns when that goes on. The ranks then get SIGCONT.
	Suspend func()

	// LiveDir is the folder in which the job can be asked how it stands ("strand
	// info --live"); "": it can not.
	LiveDir string

	Timeout time.Duration // ends the job; 0: none
	Grace   time.Duration // 0: DefaultGrace

	// KeepGoing lets the others go on when a rank fails. They are told at once
	// ([launch.Listener]); a barrier that waits for it fails. Otherwise those that outlive SIGTERM for a while, to save what
	// they have, are told.
	KeepGoing bool
}

func (c *Config) check() error {
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		return &UsageError{fmt.Sprintf("-n %d: want 1 to %d ranks", c.Ranks, MaxRanks)}
	}
	if c.Timeout < 0 {
		return &UsageError{fmt.Sprintf("--timeout %v: want a time above 0, or leave it out for none", c.Timeout)}
	}
	if c.Grace < 0 {
		return &UsageError{fmt.Sprintf("--grace %v: want 0 or more", c.Grace)}
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

// ownVariables are the launcher's: what it sets, and what an outer launcher has
// set for this process and is not true for the ranks.
var ownVariables = []string{
	"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID",
	"MPI_LOCALRANKID", "MPI_LOCALNRANKS",
	launch.JobEnv, param.FlagsVariable, control.Variable,
}

func isOwnVariable(name string) bool { return slices.Contains(ownVariables, name) }

func checkEnviron(entry string) error {
	name, _, isSet := strings.Cut(entry, "=")
	switch {
	case name == "" || strings.Contains(entry, "\x00"):
		return &UsageError{fmt.Sprintf("--env %q: want NAME=VALUE, or NAME to pass on what is set", entry)}
	case isOwnVariable(name):
		return &UsageError{fmt.Sprintf("--env %s: the launcher sets this variable itself", name)}
	case !isSet:
		if _, found := os.LookupEnv(name); !found {
			return &UsageError{fmt.Sprintf("--env %s: not set in this environment; give a value: --env %s=…", name, name)}
		}
	}
	return nil
}

// environ returns what all ranks have in common.
func (c *Config) environ(job string) []string {
	env := append(c.variables(), launch.JobEnv+"="+job)
	if len(c.Flags) > 0 {
		env = append(env, param.FlagsEnv(c.Flags))
	}
	return env
}

// variables is that without what the launcher itself adds.
func (c *Config) variables() []string {
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !isOwnVariable(name) {
			env = append(env, entry)
		}
	}
	for _, entry := range c.Environ {
		if strings.Contains(entry, "=") {
			env = append(env, entry) // of two entries the later counts
		}
	}
	return env
}
