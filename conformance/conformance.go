package conformance

import (
	"context"
	"io"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/param"
)

// A Factory makes the subject for one world. It is called anew for each, so
// that a component that connects the ranks of one process by itself can have a
// network of its own.
type Factory func() Subject

// A Subject is a transport under test and what the suite has to know of it.
type Subject struct {
	// Component is opened once for each rank.
	Component btl.Component
	// Settings are the parameters to open it with. Short time limits for
	// connecting make the suite quick.
	Settings []param.Setting
	// Wire connects, as a stranger, to the module that has published this
	// address. The suite writes garbage to the result. Nil stands for dialling
	// the sockets that the module has given to its loop.
	Wire func(address []byte) (io.WriteCloser, error)
	// Sever cuts the connection of an endpoint without a word to either side,
	// as when the peer's process is killed. It is called as all methods of the
	// endpoint are. Nil stands for shutting down the connected sockets that the
	// rank has given to its loop.
	Sever func(btl.Endpoint) error
	// Inject sends bytes to the endpoint's peer over the endpoint's connection, without the
	// endpoint's knowledge, as a defect on the way would. It is called as Sever is. Nil stands
	// for the sockets that the rank has given to its loop: the suite writes to those that are
	// connected, and sends from datagram sockets to those of the peer.
	Inject func(ep btl.Endpoint, b []byte) error
}

// An Option changes how the suite runs.
type Option func(*options)

type options struct {
	seed        uint64
	timeout     time.Duration
	only        []string
	unavailable bool
	watch       func(Result)
}

// Seed sets the seed of everything random. The default is taken from the
// variable CONFORMANCE_SEED, else from the clock; it is printed with each result.
func Seed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// Timeout sets the watchdog's limit. A case in which nothing happens for so long
// counts as a hang. The default is 20 seconds. A case that takes ten times as long
// fails too.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Only runs the cases of these names alone.
func Only(cases ...string) Option { return func(o *options) { o.only = cases } }

// AllowUnavailable makes a component whose Open returns [btl.UnavailableError]
// pass as not applicable; without it that is a failure.
func AllowUnavailable() Option { return func(o *options) { o.unavailable = true } }

// Watch has [Check] call f with the result of each case as soon as it is there, one
// at a time.
func Watch(f func(Result)) Option { return func(o *options) { o.watch = f } }

// Check runs the suite and returns what it found. It stops early when the
// context ends; the cases that are left are then missing from the report, and so is the one that
// was under way, unless it has passed all the same.
func Check(ctx context.Context, factory Factory, opts ...Option) Report {
	given.Context(ctx)
	o := resolve(opts)
	report := Report{Seed: o.seed}
	for _, c := range selected(o) {
		if ctx.Err() != nil {
			break
		}
		result := runCase(ctx, factory, c, o)
		if ctx.Err() != nil && result.Status == Failed {
			break // it was not given the time to pass
		}
		report.Results = append(report.Results, result)
		if o.watch != nil {
			o.watch(result)
		}
	}
	return report
}
