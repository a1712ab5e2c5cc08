package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/test/calls"
	"github.com/strandmp/strand/internal/test/chaos"
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
	patience   time.Duration
	farewell   *farewell // nil: the worlds are closed with nothing under way
	storm      *storm    // nil: no network fails
	late       []lateness
}

// timeout is pml_close_timeout but for who is mad: long, since machines may be slow.
const timeout = 3 * time.Minute

// NewSession draws a session from a seed. If concurrent is set its programs run
// at the same time, each in a goroutine of its own on every rank.
func NewSession(n Network, seed uint64, concurrent bool) *Session {
	r := rand.New(rand.NewPCG(seed, 0x5E55))
	s := &Session{Network: n, Seed: seed, concurrent: concurrent, patience: stall}
	s.ranks = n.MinRanks + r.IntN(n.MaxRanks-n.MinRanks+1)
	s.setup = n.Open(r)
	limits := s.drawLimits(r)
	if s.setup.Mad != nil {
		limits.ranks--
	}
	for range s.drawCount(r) {
		s.programs = append(s.programs, generate(r.Uint64(), limits))
	}
	if s.ranks > 1 && s.setup.Mad == nil && r.IntN(2) == 0 {
		s.farewell = drawFarewell(r, limits)
	}
	s.drawStorm(r)
	s.late = drawLateness(r, s.ranks)
	return s
}

// lateness is what a rank lets go by before it joins the others, and before it talks to
// them.
type lateness struct{ joins, talks time.Duration }

// drawLateness draws that of each rank: in some sessions all begin at once, as far as
// processors let them, in others they come in any order.
func drawLateness(r *rand.Rand, ranks int) []lateness {
	late := make([]lateness, ranks)
	most := time.Duration(pick(r, 0, 0, 300, 3000)) * time.Microsecond
	for i := range late {
		if most > 0 {
			late[i] = lateness{time.Duration(r.Int64N(int64(most))), time.Duration(r.Int64N(int64(most)))}
		}
	}
	return late
}

// drawCount says how many programs the session's worlds run. A quarter of the
// sessions run few, so that worlds are opened and closed often; the others run
// many, so that what one leaves behind can do harm to the next.
func (s *Session) drawCount(r *rand.Rand) int {
	switch {
	case s.setup.Mad != nil || len(s.setup.Stormy) > 0:
		return 1 + r.IntN(3) // soon nobody talks to the mad one any more; storms take time
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
	sh := shape{ranks: s.ranks, long: len(s.setup.Stormy) > 0, sizes: s.setup.Sizes, steps: 20 + 20*s.ranks, phases: 3, bytes: 300_000}
	set := func(name string, value any) {
		s.setup.Settings = append(s.setup.Settings, [2]string{name, fmt.Sprint(value)})
	}
	sh.farewell = cmp.Or(2*s.setup.Longest, 4<<20)
	if sh.long {
		sh.bytes *= 5
	}
	if sh.relaxed = r.IntN(4) == 0; sh.relaxed {
		set("pml_ordering", "relaxed")
	}
	s.setup.Settings = append(s.setup.Settings, calls.Settings(r)...)
	set("progress_spin", pick(r, "0s", "0s", "0s", "0s", "20us", "200us")) // many ranks share few processors
	set("progress_tick", pick(r, "10us", "200us", "1ms"))
	if sh.long {
		set("pml_peer_timeout", timeout) // or a machine that is slow while networks fail looks like a peer that is gone
	}
	if r.IntN(16) == 0 && (sh.long || s.setup.Longest == 0) {
		sh.sizes = append(sh.sizes, 4<<10, 64<<10, 256<<10)
		sh.steps, sh.bytes, sh.memory = 20, 2<<20, memory{buffered: 64 << 20}
		return sh
	}
	copyLimit, eager, first := pick(r, 0, 1, 64, 300, 4096), pick(r, 0, 100, 1000, 5000, 256<<10), pick(r, 0, 384, 1024, 4096, 65536)
	sh.sizes = append(sh.sizes, 0, 1, copyLimit, eager)
	longest := cmp.Or(s.setup.Longest, 20_000)
	sh.sizes = slices.DeleteFunc(sh.sizes, func(n int) bool { return n > longest })
	set("pml_lanes", max(pick(r, 1, 2, 10, 10, 1024), s.setup.Lanes))
	set("pml_copy_limit", copyLimit)
	set("pml_copy_pool", pick(r, 0, 500, 4096, 16<<20))
	set("pml_eager_max", eager)
	set("pml_eager_awaited", pick(r, 0, 20_000, 1<<20))
	most, unexpected, buffered := pick(r, 0, 2048, 65536, 4<<20), pick(r, 0, 4096, 64<<20), pick(r, 0, 5000, 64<<20)
	set("pml_credit_first", first)
	set("pml_credit_max", most)
	set("pml_unexpected_max", unexpected)
	set("pml_buffered_max", buffered)
	sh.memory = memory{buffered: buffered, credit: first + min(unexpected, max(0, most-first))}
	return sh
}

func (s *Session) String() string {
	return fmt.Sprintf("seed %#x, network %s, %d ranks, %d programs (at the same time: %v)%v, %v", s.Seed, s.Network.Name, s.ranks, len(s.programs), s.concurrent, s.storm, s.setup)
}

// Run runs the session's programs and judges what has happened.
func (s *Session) Run(ctx context.Context) (Tally, error) {
	given.Context(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run := &run{session: s, jobs: strandtest.NewJobs(s.ranks), cancel: cancel}
	for _, p := range s.programs {
		run.ledgers = append(run.ledgers, newLedger(p, &run.pulse))
	}
	if s.farewell != nil {
		run.parting = newParting(s.farewell)
	}
	for _, n := range s.setup.Stormy {
		n.SetWeather(chaos.Fair) // whatever an earlier run of the session has left
	}
	run.met.Add(s.ranks)
	go run.pulse.watch(ctx, s.patience, run.hung)
	run.calm = s.rage(ctx, &run.met)
	defer run.calm()
	var wg sync.WaitGroup
	for me := range s.ranks {
		wg.Go(func() {
			defer run.panicked()
			run.fail(run.rank(ctx, me))
		})
	}
	wg.Wait()
	for _, l := range run.ledgers {
		run.fail(l.judge())
	}
	if s.farewell != nil && len(run.errs) == 0 {
		run.fail(s.farewell.judge(run.parting))
	}
	if len(run.errs) > 0 {
		return run.tally, run.failure()
	}
	run.tally.Sessions++
	return run.tally, nil
}

// run is a session that is running.
type run struct {
	session *Session
	jobs    []*strandtest.Job
	ledgers []*ledger // by program
	parting *parting
	met     sync.WaitGroup // each other, before a rank goes mad, or networks fail
	calm    func()         // ends the storm
	cancel  context.CancelCauseFunc
	pulse   pulse

	mu     sync.Mutex
	tally  Tally
	errs   []error
	lines  []string
	stacks string // of all goroutines, when the session hung
	worlds []*strand.World
}

func (x *run) failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return fmt.Errorf("%v\n%w\n%s\n%s", x.session, errors.Join(x.errs...), strings.Join(x.lines, "\n"), x.stacks)
}

// fail ends all ranks.
func (x *run) fail(err error) {
	if err == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.errs = append(x.errs, err)
	x.cancel(errElsewhere)
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

// panicked names the session in which a goroutine panics. It can not go on: locks may be held.
func (x *run) panicked() {
	if p := recover(); p != nil {
		fmt.Fprintf(os.Stderr, "panic in the session of %v\n", x.session)
		panic(p)
	}
}

// errElsewhere ends what other ranks do when one has failed.
var errElsewhere = errors.New("something else has failed")

// rank is one rank's part.
func (x *run) rank(ctx context.Context, me int) error {
	options := []strand.Option{strand.WithJob(x.jobs[me]), strand.WithTransports(x.session.setup.Transports), strand.WithLog(x.log)}
	for _, set := range x.session.setup.Settings {
		options = append(options, strand.WithParam(set[0], set[1]))
	}
	options = append(options, strand.WithParam("pml_close_timeout", fmt.Sprint(x.session.closeTimeout(me))))
	late := x.session.late[me]
	pause(ctx, late.joins)
	w, err := strand.Init(ctx, options...)
	if err != nil {
		return fmt.Errorf("rank %d: init: %w", me, err)
	}
	x.opened(w)
	pause(ctx, late.talks)
	if x.session.storm != nil && !x.session.storm.early {
		err := meet(ctx, w.Comm())
		x.met.Done()
		if err != nil {
			return fmt.Errorf("rank %d: %w", me, err)
		}
	}
	if x.session.setup.Mad != nil {
		return x.beside(ctx, w, me)
	}
	if err := x.programs(ctx, w.Comm(), me); err != nil {
		go func() { _ = w.Close() }() // it may hang for the same reason
		return err
	}
	var t Tally
	t.stats(w.Stats())
	x.add(t)
	if x.session.storm != nil && !x.session.storm.late {
		x.calm() // one that is down for good stays so
	}
	if x.session.farewell != nil {
		return x.session.farewell.part(ctx, w, x.parting, &x.pulse)
	}
	if err := closeWorld(ctx, w); err != nil {
		return fmt.Errorf("rank %d: close: %w", me, err)
	}
	return nil
}

// programs runs the session's programs, each on a communicator of its own.
func (x *run) programs(ctx context.Context, all *strand.Comm, me int) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range x.session.programs {
		c, err := all.Dup(ctx)
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
	st, found, err := all.Iprobe(strand.AnySource, strand.AnyTag)
	if found {
		return fmt.Errorf("rank %d: nobody sends over the communicator that the others are made of, and yet it has a message: %+v", me, st)
	}
	return err
}

// program runs and judges the i'th program.
func (x *run) program(ctx context.Context, i int, c *strand.Comm, me int) error {
	p, l := x.session.programs[i], x.ledgers[i]
	var t Tally
	r := newRank(l, me, c, &t)
	err := r.run(ctx)
	if err == nil {
		err = r.history.judge()
	}
	l.enter(r.history)
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
	if s.farewell != nil {
		fmt.Fprintln(&b, s.farewell)
	}
	return b.String()
}
