package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/strandtest"
)

// A Session is a set of worlds and the programs that they run.
type Session struct {
	Network    Network
	Seed       uint64
	ranks      int
	concurrent bool // the programs run at the same time
	setup      Setup
	programs   []*program
}

// timeout is how long a session may take before it counts as hung, and so much
// more for each of its programs: long, since machines may be slow.
const (
	timeout  = 3 * time.Minute
	eachMore = 10 * time.Second
)

// NewSession draws a session from a seed. If concurrent is set its programs run
// at the same time, each in a goroutine of its own on every rank.
func NewSession(n Network, seed uint64, concurrent bool) *Session {
	r := rand.New(rand.NewPCG(seed, 0x5E55))
	s := &Session{Network: n, Seed: seed, concurrent: concurrent}
	s.ranks = n.MinRanks + r.IntN(n.MaxRanks-n.MinRanks+1)
	s.setup = n.Open(r)
	limits := s.drawLimits(r)
	for range s.drawCount(r) {
		s.programs = append(s.programs, generate(r.Uint64(), limits))
	}
	return s
}

// drawCount says how many programs the session's worlds run. A quarter of the
// sessions run few, so that worlds are opened and closed often; the others run
// many, so that what one leaves behind can do harm to the next.
func (s *Session) drawCount(r *rand.Rand) int {
	switch {
	case s.concurrent:
		return 2 + r.IntN(3)
	case r.IntN(4) == 0:
		return 1 + r.IntN(4)
	}
	return 10 + r.IntN(60)
}

// drawLimits sets the message layer's parameters and says where its thresholds
// are. One session in some keeps the defaults, whose thresholds take long
// messages.
func (s *Session) drawLimits(r *rand.Rand) shape {
	sh := shape{ranks: s.ranks, sizes: s.setup.Sizes, steps: 20 + 20*s.ranks, phases: 3, bytes: 300_000}
	set := func(name string, value any) {
		s.setup.Settings = append(s.setup.Settings, [2]string{name, fmt.Sprint(value)})
	}
	if sh.relaxed = r.IntN(4) == 0; sh.relaxed {
		set("pml_ordering", "relaxed")
	}
	set("progress_spin", pick(r, "0s", "0s", "0s", "0s", "20us", "200us")) // many ranks share few processors
	set("progress_tick", pick(r, "10us", "200us", "1ms"))
	set("pml_close_timeout", timeout)
	if r.IntN(16) == 0 && s.setup.Longest == 0 {
		sh.sizes = append(sh.sizes, 4<<10, 64<<10, 256<<10)
		sh.steps, sh.bytes = 20, 2<<20
		return sh
	}
	copyLimit, eager, first := pick(r, 0, 1, 64, 300, 4096), pick(r, 0, 100, 1000, 5000, 256<<10), pick(r, 0, 384, 1024, 4096, 65536)
	sh.sizes = append(sh.sizes, 0, 1, copyLimit, eager)
	longest := cmp.Or(s.setup.Longest, 20_000)
	sh.sizes = slices.DeleteFunc(sh.sizes, func(n int) bool { return n > longest })
	set("pml_lanes", pick(r, 1, 2, 10, 10, 1024))
	set("pml_copy_limit", copyLimit)
	set("pml_copy_pool", pick(r, 0, 500, 4096, 16<<20))
	set("pml_eager_max", eager)
	set("pml_eager_awaited", pick(r, 0, 20_000, 1<<20))
	set("pml_credit_first", first)
	set("pml_credit_max", pick(r, 0, 2048, 65536, 4<<20))
	set("pml_unexpected_max", pick(r, 0, 4096, 64<<20))
	set("pml_buffered_max", pick(r, 0, 5000, 64<<20))
	return sh
}

func (s *Session) String() string {
	return fmt.Sprintf("seed %#x, network %s, %d ranks, %d programs (at the same time: %v), %v", s.Seed, s.Network.Name, s.ranks, len(s.programs), s.concurrent, s.setup)
}

// Run runs the session's programs and judges what has happened.
func (s *Session) Run(ctx context.Context) (Tally, error) {
	given.Context(ctx)
	limit := timeout + time.Duration(len(s.programs))*eachMore
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not over after %v", limit))
	defer cancel()
	run := &run{session: s, jobs: strandtest.NewJobs(s.ranks), cancel: cancel}
	var wg sync.WaitGroup
	for me := range s.ranks {
		wg.Go(func() { run.fail(run.rank(ctx, me)) })
	}
	wg.Wait()
	if len(run.errs) > 0 {
		return run.tally, fmt.Errorf("%v\n%w\n%s", s, errors.Join(run.errs...), strings.Join(run.lines, "\n"))
	}
	run.tally.Sessions++
	return run.tally, nil
}

// run is a session that is running.
type run struct {
	session *Session
	jobs    []*strandtest.Job
	cancel  context.CancelFunc

	mu    sync.Mutex
	tally Tally
	errs  []error
	lines []string
}

// fail ends all ranks.
func (x *run) fail(err error) {
	if err == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.errs = append(x.errs, err)
	x.cancel()
}

func (x *run) add(t Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tally.Add(t)
}

func (x *run) log(_ btl.LogLevel, line string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lines = append(x.lines, line)
}

// rank is one rank's part.
func (x *run) rank(ctx context.Context, me int) error {
	options := []strand.Option{strand.WithJob(x.jobs[me]), strand.WithTransports(x.session.setup.Transports), strand.WithLog(x.log)}
	for _, set := range x.session.setup.Settings {
		options = append(options, strand.WithParam(set[0], set[1]))
	}
	w, err := strand.Init(ctx, options...)
	if err != nil {
		return fmt.Errorf("rank %d: init: %w", me, err)
	}
	if err := x.programs(ctx, w, me); err != nil {
		go func() { _ = w.Close() }() // it may hang for the same reason
		return err
	}
	var t Tally
	t.stats(w.Stats())
	x.add(t)
	if err := w.Close(); err != nil {
		return fmt.Errorf("rank %d: close: %w", me, err)
	}
	return nil
}

// programs runs the session's programs, each on a communicator of its own.
func (x *run) programs(ctx context.Context, w *strand.World, me int) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range x.session.programs {
		c, err := w.Comm().Dup(ctx)
		if err != nil {
			return fmt.Errorf("rank %d: %w", me, err)
		}
		if x.session.concurrent {
			wg.Go(func() { x.fail(x.program(ctx, i, c, me)) })
			continue
		}
		if err := x.program(ctx, i, c, me); err != nil {
			return err
		}
	}
	st, found, err := w.Comm().Iprobe(strand.AnySource, strand.AnyTag)
	if found {
		return fmt.Errorf("rank %d: nobody sends over the world's own communicator, and yet it has a message: %+v", me, st)
	}
	return err
}

// program runs and judges the i'th program.
func (x *run) program(ctx context.Context, i int, c *strand.Comm, me int) error {
	p := x.session.programs[i]
	var t Tally
	r := newRank(p, me, c, &t)
	err := r.run(ctx)
	if err == nil {
		err = r.history.judge()
	}
	if err != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		return fmt.Errorf("program %d of %d (%#x): %w", i+1, len(x.session.programs), p.seed, err)
	}
	if me == 0 {
		t.Programs++
		t.Messages += uint64(len(p.messages))
	}
	x.add(t)
	return nil
}

// Listing is the text of the session's programs, for people.
func (s *Session) Listing() string {
	var b strings.Builder
	for _, p := range s.programs {
		fmt.Fprintf(&b, "program %#x on %d ranks\n", p.seed, p.ranks)
		for i, st := range p.steps {
			fmt.Fprintf(&b, "%4d %v\n", i, st)
		}
	}
	return b.String()
}
