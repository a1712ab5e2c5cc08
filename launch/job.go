package launch

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoKey: no rank has put that key, or no barrier came after the put.
var ErrNoKey = errors.New("launch: no rank has published that key")

// ErrClosed: the job was closed by this process.
var ErrClosed = errors.New("launch: the connection to the launcher is closed")

// A Job is this process's membership in a parallel job. Its methods are safe
// for any number of goroutines.
type Job interface {
	Rank() int // 0 ≤ Rank < Size
	Size() int

	// Name is the launcher's name of the job, the same in all its ranks.
	Name() string

	// Hostname is the name of the host this rank runs on.
	Hostname() string

	// Put publishes a value of any bytes, up to some 40 MB, under a key of 1 to 48 bytes. Other
	// ranks see it after the next Barrier. A key is put once. When the context ends Put returns
	// at once; it is then not known whether the value was published.
	Put(ctx context.Context, key, value string) error

	// Get returns what some rank put under the key; the error is ErrNoKey if none did. When the
	// context ends it returns at once.
	Get(ctx context.Context, key string) (string, error)

	// Barrier returns when all ranks have called it. When its context ends first it returns at
	// once, and this rank counts as arrived.
	Barrier(ctx context.Context) error

	// Abort tells the launcher to end the whole job with that exit code. It
	// does not wait for an answer: the caller exits. The message reaches the
	// user through the launcher, or on standard error if it takes none.
	Abort(code int, message string)

	// Close leaves the job in good order. To a launcher, a process that exits
	// without it has failed.
	Close() error

	// Launcher names who started the job: "strand run", "hydra", "slurm",
	// "PMI-1" for one that is not known by name, "none" for a world of one.
	Launcher() string
}

// Local is a [Job] that may know how many of its ranks run on this host.
type Local interface {
	// LocalRanks is their number, this one included, or 0 if the launcher does not say it.
	LocalRanks() int
	// LocalProcessors is how many processors these ranks have between them, or 0 if the launcher does
	// not say it. This process may be bound to some of them.
	LocalProcessors() int
}

// A Failure says how a rank ended that did not leave its job in order, as the launcher saw it.
// Other ranks get it as the cause in the errors of operations with that rank.
type Failure struct {
	Rank     int
	Host     string
	Launcher string // who says so
	How      string // "was killed by signal 9 (SIGKILL)"
	Status   int    // with which it exited, or aborted
	Signal   int    // that killed it, 0 if none did
}

func (f *Failure) Error() string { return fmt.Sprintf("it %s (%s)", f.How, f.Launcher) }

// Callbacks are called for what a launcher says beyond PMI-1. They are called on one goroutine,
// one at a time, and may be called until Close returns.
type Callbacks struct {
	// Failed is called once for each rank that has failed, failures before the call to Listen
	// included. A failure that ends the job is told too, to ranks that outlive SIGTERM.
	Failed func(*Failure)
	// Left, if it is not nil, is called for a rank that this one has called ([Listener.Call]) and that has left
	// the job in order, before the call or since. Host is where it ran. An older launcher does not say so.
	Left func(rank int, host string)
	// Report returns how things stand, in a form that encoding/json can write.
	Report func() any
	// Called says that rank by can not connect to this one, and asks it to connect instead.
	Called func(by int)
	// Gone is called once, if the launcher has ended before this rank has left the job:
	// nobody is left to end it, nor to hear how it ends.
	Gone func()
}

// A Listener is a Job whose launcher may have more to say than PMI-1 can: "strand run".
type Listener interface {
	// Listen has the callbacks called from now on. It is called once.
	Listen(Callbacks)
	// Warn hands a line for people to the launcher, which shows it once with the ranks that have
	// said the same. The line says who it is from by "rank 3: ", at its beginning or later. An
	// error means that nobody will see it. It waits for some milliseconds at most.
	Warn(line string) error
	// CanCall reports whether this launcher passes on what Call says.
	CanCall() bool
	// Call asks a rank that this one can not connect to, to connect instead. If that one has left, Left of
	// the callbacks says so. It may wait for a second. On an error the rank was not asked.
	Call(rank int) error
}

// A Follower is a Job whose rank can say that it aborts only because another one has failed. The
// user then hears of that one.
type Follower interface {
	// AbortAfter is Abort of a rank that was well until the given one failed. It may return a
	// second later, and never if the launcher ends this process for that failure by itself.
	AbortAfter(failed, code int, message string)
}

// An Ender is a Job whose launcher may end this process, with the others, after an
// abort.
type Ender interface {
	// AwaitEnd waits after Abort for the launcher to end this process, so that the launcher
	// alone tells why. It returns at once if the launcher does not tell; else when the context
	// ends, or after ten seconds.
	AwaitEnd(ctx context.Context)
}
