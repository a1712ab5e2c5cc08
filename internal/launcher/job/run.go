package job

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/launcher/pmi"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/openfiles"
)

// Run runs a job on this host and returns when all its ranks have exited and their output was
// passed on. The error of a job that failed is a *RankError, *TimeoutError, *InterruptError or
// *OutputError, or the context's cause. An *UnreadError wraps that if
// nobody read the output. The error of a job that did not start is a *UsageError, a
// *local.ProgramError, what Validate said, or what the system refused. Errors with a method ExitStatus
// say what a launcher should exit with.
func Run(ctx context.Context, c Config) error {
	given.Context(ctx)
	if err := c.check(); err != nil {
		return err
	}
	path, err := c.Program, error(nil)
	if len(c.Elsewhere) == 0 || c.Push {
		if path, err = local.Find(c.Program); err != nil {
			return err
		}
	}
	j := &job{
		config: c, path: path, hostname: machine.Hostname(), name: jobName(), begun: time.Now(),
		started: make(chan struct{}), events: make(chan event), over: make(chan struct{}),
	}
	defer j.open()()
	if j.server, err = pmi.NewServer(j.name, c.Ranks, j); err != nil {
		return err
	}
	j.server.Place(c.hosts())
	page, err := c.openTrace()
	if err != nil {
		return err
	}
	return j.withTrace(page, j.run(ctx))
}

// open opens the job's outputs. The returned function ends the goroutines that write to them.
func (j *job) open() (closeAll func()) {
	j.console = newConsole()
	j.sinks = j.console.sinks(j.config.Stdout, j.config.Stderr)
	j.notes = &notes{show: j.sinks[1].note, working: &j.working}
	j.warnings = &warnings{ranks: j.config.Ranks, show: j.sinks[1].note}
	return func() {
		for _, k := range slices.Compact(j.sinks[:]) {
			k.close()
		}
	}
}

// jobName returns a name that no other job of the network has.
func jobName() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return "strand_" + hex.EncodeToString(id[:])
}

// A job is one run. Its processes, sockets and pipes are owned by goroutines
// that report to the supervisor by events.
type job struct {
	config   Config
	path     string
	hostname string
	name     string
	begun    time.Time // from when on Timeout counts

	server  *pmi.Server
	console *console
	sinks   [2]*sink // standard output, standard error
	ranks   []*process
	started chan struct{}  // closed when those are all that there will be
	lines   []*remote.Line // to other hosts
	early   []os.Signal    // that have come before the ranks were started, and are for them
	events  chan event
	over    chan struct{} // closed when nobody takes events any more

	working  sync.WaitGroup
	warnings *warnings
	notes    *notes
}

func (j *job) run(ctx context.Context) error {
	input, release, err := inputFor(j.config.Stdin, len(j.config.Elsewhere) > 0, func(err error) {
		j.notes.add(fmt.Sprintf("strand run: standard input can not be read on, and ends for rank 0: %v\n", err))
	})
	if err != nil {
		return fmt.Errorf("standard input for rank 0: %w", openfiles.Explain(err))
	}
	outOfMemory := local.OutOfMemory()
	stopLive := j.serveLive()
	var startErr error
	if len(j.config.Elsewhere) == 0 {
		startErr = j.startAll(input)
	} else {
		startErr = j.startElsewhere(ctx, input)
	}
	close(j.started)
	for _, p := range j.ranks {
		j.attend(p)
	}
	if len(j.config.Elsewhere) == 0 {
		j.working.Go(j.heedStops)
	}
	s := newSupervisor(j)
	if startErr != nil {
		s.endBecause(startErr)
	}
	s.run(ctx)
	stopLive()
	j.server.Close()
	release()
	defer j.leaveHosts()
	for _, p := range j.ranks {
		p.line.EndWithin(local.LastWordsTime)
		for _, out := range p.out {
			out.pipe.End()
		}
	}
	close(j.over)
	written := make(chan struct{})
	go func() {
		defer close(written)
		j.working.Wait()
		j.warnings.finish()
	}()
	s.drain(ctx, written)
	j.explainWant(s.verdict, outOfMemory)
	if err = s.verdict; err == nil {
		err = s.outputFailure()
	}
	if err != nil {
		j.sinks[1].finishLine() // the caller may report the error there
	}
	return err
}

// logf tells what the launcher does, if the user wants to know (Verbose).
func (j *job) logf(format string, args ...any) {
	if j.config.Verbose {
		j.notes.add(fmt.Sprintf("strand run: "+format+"\n", args...))
	}
}

// hostOf names a rank's host.
func (j *job) hostOf(rank int) string {
	if j.config.Hostname != nil {
		return j.config.Hostname(rank)
	}
	for _, share := range j.config.Elsewhere {
		if slices.Contains(share.Ranks, rank) {
			return share.Host.Name
		}
	}
	return j.hostname
}

// outputFailure returns the error of a write after the last rank had exited.
func (s *supervisor) outputFailure() error {
	select {
	case err := <-s.console.failure:
		if s.wasInterrupted(err) {
			return nil
		}
		return err
	default:
		return nil
	}
}

// attend starts the goroutines that serve a rank.
func (j *job) attend(p *process) {
	j.working.Go(func() {
		err := j.server.Serve(p.rank, p.conn)
		if err != nil {
			j.post(event{kind: misspoke, rank: p.rank, message: err.Error()})
		}
		close(p.served)
		if !p.exitsWithin(endingTime) {
			j.post(event{kind: parted, rank: p.rank})
		}
	})
	j.working.Go(func() {
		err := p.line.Serve(control.Heard{
			Warning: func(text string) { j.warnings.add(p.rank, text) },
			Call:    func(rank int) { j.post(event{kind: called, rank: p.rank, whom: rank}) },
		})
		if err != nil {
			j.logf("rank %d: %v", p.rank, err)
		}
	})
	for _, s := range p.out {
		j.working.Go(func() {
			s.forward()
			_ = s.pipe.Close()
		})
	}
	j.working.Go(func() {
		status, err := p.wait()
		j.post(event{kind: exited, rank: p.rank, status: status, lost: err})
		if j.config.Trace != "" {
			p.recorded, p.unrecorded = p.Recorded()
		}
	})
}

// An event is something that happened to a rank.
type event struct {
	kind    eventKind
	rank    int
	code    int                // aborted
	message string             // aborted, misspoke
	after   int                // aborted: the rank whose failure has led to it, or -1
	whom    int                // called: the rank that is to connect to this one, unchecked
	status  syscall.WaitStatus // exited
	lost    error              // exited: why the status is not known
}

type eventKind uint8

const (
	initialised eventKind = iota
	finalised
	called // can not connect to another rank
	aborted
	misspoke
	parted // closed its connection, and runs on
	exited
)

// post hands an event to the supervisor. It returns when the event was taken, or the job is
// over.
func (j *job) post(e event) {
	select {
	case j.events <- e:
	case <-j.over:
	}
}

func (j *job) Initialised(rank int) { j.post(event{kind: initialised, rank: rank}) }
func (j *job) Finalised(rank int)   { j.post(event{kind: finalised, rank: rank}) }
func (j *job) Aborted(rank int, a pmi.Abort) {
	j.post(event{kind: aborted, rank: rank, code: a.Code, message: a.Message, after: a.After})
}
