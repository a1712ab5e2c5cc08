package strand

import (
	"fmt"
	"os"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/selection"
)

// An Option changes how a world is opened.
type Option func(*options)

type options struct {
	job      launch.Job
	registry *btl.Registry
	settings []param.Setting
	bare     bool // no environment, no files
	exit     func(int)
	log      func(btl.LogLevel, string)
	launched bool                  // the job is the launcher's, which this process was started by
	traits   representation.Traits // how this process has values in memory
}

// WithParam sets a parameter. The command line of strand run overrides it; it overrides the
// environment and the files.
func WithParam(name, value string) Option {
	return func(o *options) {
		o.settings = append(o.settings, param.Setting{Name: name, Text: value,
			Source: param.Source{Kind: param.Option, Where: "the program"}})
	}
}

// WithSettings sets parameters that come from elsewhere, such as the program's own command line.
// Their sources decide what they override ([param.SourceKind]).
func WithSettings(settings ...param.Setting) Option {
	return func(o *options) { o.settings = append(o.settings, settings...) }
}

// WithTransports uses the transports of a registry instead of the built-in and
// imported ones ([btl.Default]).
func WithTransports(r *btl.Registry) Option { return func(o *options) { o.registry = r } }

// WithJob makes the world a member of the given job, whatever launcher the environment names. The
// environment and the files then set no parameters, and Abort does not exit. It serves tests, and
// launchers within a process.
func WithJob(j launch.Job) Option {
	return func(o *options) {
		o.job, o.bare = j, true
		o.exit = func(int) {}
	}
}

// WithLog passes lines for people to f instead of to standard error or the launcher. One
// goroutine calls f, with one line at a time, in order. So f may take its time; it may use the
// world, but not close it. If lines come faster than f takes them, some are lost, and a line says
// how many. Close, and an Init that fails, return when f has taken all lines, or after
// [LogPatience].
func WithLog(f func(level btl.LogLevel, line string)) Option { return func(o *options) { o.log = f } }

// Declare adds all parameters that a world with these transports has to a
// registry.
func Declare(r *param.Registry, transports *btl.Registry) {
	r.Declare(
		param.Spec{Name: "btl", Kind: param.String, Default: unrequested(transports), Level: param.User,
			Help: "Transports to use (tcp,self), or with ^ in front those not to use (^tcp); one that the default leaves out is used only if it is named. Empty: all there are."},
		param.Spec{Name: "verbose", Kind: param.Int, Default: "0", Min: "0", Max: "2", Level: param.User,
			Help: "How much is told on standard error: 1, connections and choices; 2, each step."},
	)
	pml.Declare(r)
	declareCollectives(r)
	for _, c := range transports.Components() {
		c.Declare(r)
		selection.Declare(r, c.Name())
	}
}

// read returns the parameters and the transports that they name.
func (o *options) read() (*param.Values, []btl.Component, error) {
	params, err := o.resolve()
	var components []btl.Component
	if err != nil {
		err = titled(err)
	} else {
		components, err = chosen(params, o.registry)
	}
	if err != nil && o.job == nil {
		err = &mistake{err}
	}
	return params, components, err
}

// titled puts a title above several mistakes. One alone is a line that says all itself.
func titled(mistakes error) error {
	if !strings.Contains(mistakes.Error(), "\n") {
		return mistakes
	}
	return fmt.Errorf("parameters:\n%w", mistakes)
}

func (o *options) resolve() (*param.Values, error) {
	r := param.NewRegistry()
	Declare(r, o.registry)
	in := param.Inputs{Settings: o.settings}
	if !o.bare {
		in.Environ, in.Optional = os.Environ(), param.DefaultFiles()
	}
	return r.Resolve(in)
}

// logger returns the queue for the process's lines, and a function that puts a line into it if
// the line's level is at most verbose.
func (o *options) logger(verbose int, job launch.Job) (*lines.Queue, func(btl.LogLevel, string)) {
	log := o.log
	if log == nil {
		log = logFor(job)
	}
	q := lines.New(log)
	return q, func(level btl.LogLevel, line string) {
		if int(level) <= verbose {
			q.Put(level, line)
		}
	}
}

// logFor writes to standard error, except for warnings that the launcher takes: it
// shows once what all ranks warn of.
func logFor(job launch.Job) func(btl.LogLevel, string) {
	launcher, listens := job.(launch.Listener)
	return func(level btl.LogLevel, line string) {
		if level == btl.LogWarn && listens && launcher.Warn(line) == nil {
			return
		}
		fmt.Fprintln(os.Stderr, "strand:", line)
	}
}

// unrequested is the default of the parameter btl: it leaves out the transports that have to be
// asked for by name.
func unrequested(transports *btl.Registry) string {
	var names []string
	for _, c := range transports.Components() {
		if _, ok := c.(btl.Requested); ok {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "^" + strings.Join(names, ",")
}
