package programs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/strandmp/strand"
)

// A rank runs a program's steps as far as they concern it, and writes down what
// it sees.
type rank struct {
	program *program
	me      int // rank of the world
	history *history
	comms   []*strand.Comm
	grids   []*strand.Cart
	series  map[int]*serial // by number

	ctx      context.Context
	random   *rand.Rand // of this step
	phase    int
	requests []*request
	held     []*captive
	calls    []underway
	buffers  []*buffer // all that were ever used
	got      map[*message]bool
	seen     map[[3]int]int // messages known to be received, by communicator, source and tag
	consumed []int          // likewise, by communicator
	polls    bool           // tests and probes in loops, where others wait
	ledger   *ledger
	tally    *Tally
}

// A request is a send or a receive under way.
type request struct {
	handle    strand.Request
	buffer    *buffer
	message   *message // of a send
	mode      mode
	reception *reception // of a receive
	matched   bool       // a receive that could not be taken back
}

// A captive is a message that a matched probe has taken.
type captive struct {
	message   *strand.Message
	reception *reception
	step      *step
}

func newRank(l *ledger, me int, base *strand.Comm, t *Tally) *rank {
	p := l.program
	r := &rank{
		program: p, me: me, history: &history{program: p, rank: me},
		comms: make([]*strand.Comm, len(p.comms)), grids: make([]*strand.Cart, len(p.comms)), series: make(map[int]*serial), got: make(map[*message]bool),
		seen: make(map[[3]int]int), consumed: make([]int, len(p.comms)), tally: t,
		polls: p.polling>>me&1 == 1, ledger: l,
	}
	r.comms[0] = base
	return r
}

// run takes all steps.
func (r *rank) run(ctx context.Context) error {
	r.ctx = ctx
	for i, s := range r.program.steps {
		r.ledger.beat()
		r.random = rand.New(rand.NewPCG(s.bits, uint64(r.me)))
		if err := r.take(s); err != nil {
			return fmt.Errorf("rank %d, step %d (%v): %w\n%s", r.me, i, s, err, r.pending())
		}
	}
	return r.finish()
}

// take takes one step, if it is this rank's.
func (r *rank) take(s *step) error {
	if s.kind == stepDrain {
		return r.drain()
	}
	if r.program.comms[s.comm].rank(r.me) < 0 {
		return nil
	}
	switch s.kind {
	case stepBarrier:
		return r.comms[s.comm].Barrier(r.ctx)
	case stepCollect:
		return r.collect(s)
	case stepDup, stepSplit, stepGrid:
		return r.join(s)
	case stepFree:
		return r.free(s.comm)
	case stepExchange:
		return r.exchange(s)
	case stepRevoke:
		return r.revoke(s)
	case stepTransfer:
		return r.transfer(s)
	case stepAgree:
		return r.agree(r.comms[s.comm], s)
	}
	if s.rank != r.me {
		return nil
	}
	switch s.kind {
	case stepSend:
		return r.send(s)
	case stepRecv:
		if s.series > 0 {
			if done, err := r.receiveAgain(s); done || err != nil {
				return err
			}
		}
		return r.receive(s.comm, s.pattern, s.room, s.form, nil)
	case stepProbe:
		return r.probe(s)
	case stepTake:
		return r.capture(s)
	case stepFinish:
		return r.freeCaptive()
	case stepGather:
		return r.await(r.random.IntN(len(r.calls) + 1))
	case stepCancel:
		return r.cancel()
	case stepTest:
		return r.test()
	case stepYield:
		r.yield()
	case stepPause:
		pause(r.ctx, time.Duration(r.random.IntN(3000))*time.Microsecond)
	case stepBrief:
		return r.briefly(s)
	case stepFlood:
		return r.flood(s)
	}
	return nil
}

// options are those that a communicator is duplicated with. Some are urgent, some are not, and some are what
// they are duplicates of.
func (r *rank) options(s *step) (options []strand.DupOption) {
	switch {
	case s.relaxed == r.program.comms[s.comm].relaxed:
	case s.relaxed:
		options = append(options, strand.Relaxed)
	default:
		options = append(options, strand.Strict)
	}
	switch s.made[r.me] % 4 {
	case 1:
		options = append(options, strand.Urgent)
	case 2:
		options = append(options, strand.Normal)
	}
	return options
}

// join makes a communicator, which has to be as the program says.
func (r *rank) join(s *step) error {
	c, grid, err := r.make(s)
	if err != nil {
		return err
	}
	id := s.made[r.me]
	if id < 0 {
		if c != nil {
			return errors.New("got a communicator without having asked for one")
		}
		return nil
	}
	g := r.program.comms[id]
	if c == nil || c.Size() != len(g.members) || c.Rank() != g.rank(r.me) {
		return fmt.Errorf("got a communicator that is not the one asked for: %+v, want members %v", c, g.members)
	}
	r.comms[id], r.grids[id] = c, grid
	return nil
}

// make makes what join has asked for.
func (r *rank) make(s *step) (c *strand.Comm, grid *strand.Cart, err error) {
	switch base := r.comms[s.comm]; s.kind {
	case stepDup:
		c, err = base.DupWith(r.ctx, r.options(s)...)
	case stepGrid:
		if grid, err = base.Cart(r.ctx, s.grid.dims, s.grid.periodic); grid != nil {
			c = grid.Comm
		}
	default:
		c, err = base.Split(r.ctx, s.colors[r.me], s.keys[r.me])
	}
	return c, grid, err
}

// free ends the use of a communicator.
func (r *rank) free(comm int) error {
	if err := r.comms[comm].Free(); err != nil {
		return err
	}
	for _, x := range r.series {
		if x.comm != comm {
			continue
		}
		if _, err := x.op.Start(); !errors.Is(err, strand.ErrFreed) {
			return fmt.Errorf("a persistent operation of a communicator that was freed is started with %s", fmt.Sprint(err))
		}
	}
	return nil
}

// yield lets the other ranks run ahead.
func (r *rank) yield() {
	for range r.random.IntN(20) {
		runtime.Gosched()
	}
}

// pending lists what is under way, for people.
func (r *rank) pending() string {
	var b strings.Builder
	due := r.due()
	for comm, n := range r.consumed {
		if due[comm] > n {
			fmt.Fprintf(&b, "\trank %d, comm %d: %d messages of %d are not received\n", r.me, comm, due[comm]-n, due[comm])
		}
	}
	for _, q := range r.requests {
		if q.message != nil {
			fmt.Fprintf(&b, "\trank %d, not sent: %v\n", r.me, q.message)
		} else {
			fmt.Fprintf(&b, "\trank %d, not received (matched: %v): %v\n", r.me, q.matched, q.reception)
		}
	}
	for _, u := range r.calls {
		fmt.Fprintf(&b, "\trank %d, not waited for: %v\n", r.me, u.step)
	}
	for _, c := range r.held {
		fmt.Fprintf(&b, "\trank %d, held: %v\n", r.me, c.reception)
	}
	return b.String()
}

// finish looks for what should not be there after the end.
func (r *rank) finish() error {
	for id, c := range r.comms {
		if c == nil {
			continue
		}
		st, ok, err := c.Iprobe(strand.AnySource, strand.AnyTag)
		if errors.Is(err, strand.ErrFreed) {
			continue
		}
		if err != nil {
			return err
		}
		if ok {
			return fmt.Errorf("rank %d, comm %d: everything was received, and yet there is a message: %+v", r.me, id, st)
		}
		if c == c.World().Comm() {
			continue
		}
		if err := c.Free(); err != nil {
			return err
		}
	}
	for _, b := range r.buffers {
		if b.lent {
			continue
		}
		if i := b.untouched(0); i >= 0 {
			return fmt.Errorf("rank %d: byte %d of a buffer of %d was written to after its operation had ended", r.me, i, b.size)
		}
	}
	return nil
}
