package strand

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/coll"
	_ "github.com/strandmp/strand/internal/builtin" // the transports that come with Strand
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/selection"
)

// A World is this process's membership in a parallel job.
type World struct {
	job    launch.Job
	params *param.Values
	pml    *pml.PML
	comm   *Comm
	choice coll.Choice
	// whereabout is what this process tells others of where it is.
	whereabout []byte

	exit        func(int)
	log         *lines.Queue
	say         func(btl.LogLevel, string) // puts a line there, if people want to read such lines
	checks      bool                       // coll_check
	offices     offices
	commonsFrom int64         // coll_shared_from
	commons     budget        // of the memories that this rank has in common with others
	counter     atomic.Uint32 // of the communicators named by this process
	once        sync.Once
	closed      error
}

// Run joins the world, calls f and leaves the world. It is to be called by main, which then prints
// the error, if any, and exits. If f returns an error, panics or ends by runtime.Goexit,
// the whole job is aborted with that message.
//
// With only one processor to use, Run lets Go use two threads, unless the
// environment sets GOMAXPROCS: a computing goroutine would otherwise hold up
// messages.
func Run(ctx context.Context, f func(ctx context.Context, w *World) error, opts ...Option) (err error) {
	given.Context(ctx)
	if runtime.GOMAXPROCS(0) == 1 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
	w, err := Init(ctx, opts...)
	if err != nil {
		tellMistake(ctx, err)
		return err
	}
	returned := false
	defer func() {
		switch p := recover(); {
		case p != nil:
			fmt.Fprintf(os.Stderr, "rank %d: panic: %v\n\n%s", w.Rank(), p, debug.Stack())
			err = w.crash(fmt.Sprintf("panic: %v", p))
		case !returned:
			// Goexit unwinds the caller of Run too: nothing after this could tell the others.
			fmt.Fprintf(os.Stderr, "rank %d: %s\n\n%s", w.Rank(), goexit, debug.Stack())
			err = w.crash(goexit)
		}
	}()
	err = f(ctx, w)
	returned = true
	if err != nil {
		w.log.Flush(abortPatience)
		if w.Size() > 1 {
			abortBecause(w.job, err)
		}
		w.drop()
		return err
	}
	return w.Close()
}

const goexit = "the function given to Run ended by runtime.Goexit, as t.FailNow and t.Skip of a test do, and did not return"

// crash ends the job after a function that did not return.
func (w *World) crash(how string) error {
	w.Abort(2, how)
	w.drop() // Abort returns where the job is one within a process
	return fmt.Errorf("rank %d: %s", w.Rank(), how)
}

// abortBecause ends the job with an error. If another process's failure has led to the error,
// the launcher is told which process that is, so that it names that one. A process that has no
// descriptor to reach another one with has failed itself.
func abortBecause(job launch.Job, err error) {
	failed, isPeers := errors.AsType[*PeerFailedError](err)
	_, never := errors.AsType[*selection.UnreachableError](err) // nobody has failed
	if follower, tells := job.(launch.Follower); isPeers && !never && !openfiles.Exhausted(err) && tells {
		follower.AbortAfter(failed.WorldRank, 1, err.Error())
		return
	}
	job.Abort(1, err.Error())
}

// drop leaves the world without a word: the job is over.
func (w *World) drop() {
	w.once.Do(func() {
		w.pml.Drop()
		w.tellRest()
		w.closed = ErrClosed
	})
}

// Init joins the world: it finds out who this process is, reads the parameters
// and opens the transports. [World.Close] leaves it again.
func Init(ctx context.Context, opts ...Option) (*World, error) {
	given.Context(ctx)
	o := options{registry: btl.Default, exit: os.Exit, traits: representation.Own()}
	for _, opt := range opts {
		opt(&o)
	}
	w := &World{job: o.job, exit: o.exit}
	o.launched = o.job == nil
	var components []btl.Component
	var err error
	if w.params, components, err = o.read(); err != nil {
		return nil, err
	}
	w.choice, w.checks = choice(w.params), w.params.Bool("coll_check")
	w.commonsFrom = int64(w.params.Int("coll_shared_from"))
	if w.job == nil {
		if w.job, err = launch.FromEnvironment(ctx); err != nil {
			return nil, openfiles.Explain(err)
		}
	}
	if err := openfiles.Explain(w.open(ctx, components, &o)); err != nil {
		if w.job.Size() > 1 {
			endBecause(ctx, w.job, err) // the others wait for this rank
		}
		_ = w.job.Close() // err is the cause
		return nil, err
	}
	return w, nil
}

// chosen returns the components that the parameter btl names.
func chosen(params *param.Values, r *btl.Registry) ([]btl.Component, error) {
	v := params.Value("btl")
	list, err := selection.Parse(v.Text, v.Source)
	if err == nil {
		err = pml.CheckFailover(params.Value("pml_failover"), r)
	}
	if err != nil {
		return nil, err
	}
	return list.Components(r)
}

// crowdOf is what the launcher says of ranks that outnumber the processors of this host.
func crowdOf(job launch.Job) pml.Crowd {
	local, ok := job.(launch.Local)
	if !ok {
		return pml.Crowd{}
	}
	c := pml.Crowd{Ranks: local.LocalRanks(), Processors: local.LocalProcessors()}
	if c.Processors == 0 {
		c.Processors = runtime.NumCPU()
	}
	if c.Ranks <= c.Processors {
		return pml.Crowd{}
	}
	return c
}

// progress are the options of the engine that the parameters ask for. Where ranks outnumber the
// processors they wait for each other in another way.
func progress(params *param.Values, crowd pml.Crowd) engine.Options {
	return engine.Options{
		Spin:    params.Duration("progress_spin"),
		Tick:    params.Duration("progress_tick"),
		Stay:    !params.Bool("progress_move"),
		Crowded: crowd.Ranks > 0,
		Turn:    crowd.Turn(),
		Throng:  crowd.Throng(),
	}
}

func (w *World) open(ctx context.Context, components []btl.Component, o *options) error {
	if err := ctx.Err(); err != nil {
		return err // a world of one process is made without a wait, which would look
	}
	job, listens := w.job.(launch.Listener)
	var call func(int) error
	if listens && job.CanCall() {
		call = job.Call
	}
	queue, log := o.logger(w.params.Int("verbose"), w.job)
	w.log, w.say = queue, log
	crowd := crowdOf(w.job)
	p, err := pml.Open(ctx, pml.Config{
		Appeal: call,
		Job:    w.job, Params: w.params, Components: components,
		Engine: progress(w.params, crowd),
		Crowd:  crowd,
		Traits: o.traits,
		Log:    log,
		Trace:  o.recorder(w.job),
	})
	if err != nil {
		w.tellRest()
		return err
	}
	w.pml, w.whereabout = p, ownWhereabout(p.Uses("sm"), crowd.Ranks > 0, o.traits)
	if err := w.listen(); err != nil {
		w.drop()
		return err
	}
	w.comm, err = w.newComm(pml.ContextID(0, 0), pml.ConsecutiveGroup(0, w.job.Size()), manner{order: defaultOrder(w.params)})
	if err != nil {
		w.drop()
		return err
	}
	w.counter.Store(1)
	if listens {
		job.Listen(launch.Callbacks{
			Failed: func(f *launch.Failure) { p.PeerFailed(f.Rank, f.Host, f) },
			Left:   p.PeerLeft,
			Report: w.report,
			Called: p.Appealed,
			Gone:   w.orphaned,
		})
	}
	return nil
}

// orphaned ends this process, whose launcher is gone. Whoever has ended the launcher, by
// whatever signal, wants the job to end. There may be nobody else to see to that: what the
// launcher started may be a shell, and this process the shell's.
func (w *World) orphaned() {
	fmt.Fprintf(os.Stderr, "strand: rank %d on %s: its launcher is gone, and so it ends\n", w.Rank(), w.Hostname())
	w.exit(1)
}

func defaultOrder(params *param.Values) Ordering {
	if params.String("pml_ordering") == "relaxed" {
		return Relaxed
	}
	return Strict
}

// LogPatience bounds how long [World.Close] waits for lines for people that have not been taken
// yet: by the function of [WithLog], by standard error or by the launcher.
const LogPatience = 5 * time.Second

// abortPatience is the same bound where the job is ended because of an error.
const abortPatience = time.Second

// tellRest waits until all lines for people so far were taken, at most for LogPatience. If they
// were not taken, there is nobody who could be told that.
func (w *World) tellRest() { w.log.Flush(LogPatience) }

// Rank is this process's number in the world, from 0 to Size−1.
func (w *World) Rank() int { return w.job.Rank() }

// Size is the number of processes in the world.
func (w *World) Size() int { return w.job.Size() }

// Comm is the communicator of all processes. It can not be freed.
func (w *World) Comm() *Comm { return w.comm }

// Params returns the values of all parameters and where they came from.
func (w *World) Params() *param.Values { return w.params }

// Hostname is the name of the host this process runs on.
func (w *World) Hostname() string { return w.job.Hostname() }

// Launcher names what started the job: "strand run", "hydra", "slurm", "none".
func (w *World) Launcher() string { return w.job.Launcher() }

// Abort ends the whole job: the launcher kills all processes and shows the message, and this
// process exits with the code. A code whose last eight bits are 0, which a system takes for success, counts as 1.
func (w *World) Abort(code int, message string) {
	if code&0xff == 0 {
		code = 1
	}
	w.log.Flush(abortPatience)
	w.job.Abort(code, message)
	w.exit(code)
}

// Close leaves the world in order. It waits until everything that was sent is delivered, at most
// for pml_close_timeout; a delivery that takes longer is an error. Receives that have no message
// end with [ErrClosed]. A second call does nothing and returns the same.
func (w *World) Close() error {
	w.once.Do(func() {
		w.closed = w.pml.Close(context.Background())
		w.releaseAll()
		w.tellRest()
		if err := w.job.Close(); w.closed == nil {
			w.closed = err
		}
	})
	return w.closed
}
