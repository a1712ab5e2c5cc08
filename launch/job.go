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

	// Put publishes a value, of any bytes and length, under a key of one to a
	// few dozen bytes. Other ranks see it after the next Barrier. A key is put
	// once. A context that ends makes it return at once; whether the value was
	// published is then not known.
	Put(ctx context.Context, key, value string) error

	// Get returns what some rank put under the key; the error is ErrNoKey if
	// none did. A context that ends makes it return at once.
	Get(ctx context.Context, key string) (string, error)

	// Barrier returns when all ranks have called it. If its context ends
	// first it returns at once, and this rank counts as arrived.
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

// A Failure says how a rank has ended that did not leave its job in order, as the launcher saw
// it. It is the cause in the errors of those that depend on the rank.
type Failure struct {
	Rank     int
	Host     string
	Launcher string // who says so
	How      string // "was killed by signal 9 (SIGKILL)"
	Status   int    // with which it exited, or aborted
	Signal   int    // that killed it, 0 if none did
}

func (f *Failure) Error() string { return fmt.Sprintf("it %s (%s)", f.How, f.Launcher) }

// Callbacks are what a rank does for a launcher that has more to say than PMI-1
// can. They are called on one goroutine, one at a time, and may be called until
// Close returns.
type Callbacks struct {
	// Failed is called once for each rank that has failed and whose failure does
	// not end the job, failures before the call to Listen included.
	Failed func(*Failure)
	// Report returns how things stand, in a form that encoding/json can write.
	Report func() any
	// Called says that a rank which can not connect to this one asks it to connect instead.
	Called func(by int)
	// Gone is called once, if the launcher has ended before this rank has left the job:
	// nobody is left to end it, nor to hear how it ends.
	Gone func()
}

// A Listener is a Job that may have such a launcher: "strand run".
type Listener interface {
	// Listen has the callbacks called from now on. It is called once.
	Listen(Callbacks)
	// Warn hands a line for people to the launcher, which shows it once with the
	// ranks that have said the same. The line says who it is from by "rank 3: ", at
	// its beginning or later. An error means that nobody will see it. It does not block.
	Warn(line string) error
	// CanCall reports whether this launcher passes on what Call says.
	CanCall() bool
	// Call asks a rank that this one can not connect to, to connect instead. It may
	// wait for a second; on an error the rank was not asked.
	Call(rank int) error
}

// A Follower is a Job whose rank may abort only because another one has failed, so that
// the user hears of that one.
type Follower interface {
	// AbortAfter is Abort of a rank that was well until the given one failed. It may
	// return late, and never if the launcher ends this process for that failure by itself.
	AbortAfter(failed, code int, message string)
}

// An Ender is a Job whose launcher may end this process, with the others, after an
// abort.
type Ender interface {
	// AwaitEnd waits after Abort for the launcher to end this process, so that it
	// alone tells why. It returns at once where this process is to tell, and else when
	// the context ends, or after ten seconds.
	AwaitEnd(ctx context.Context)
}
