package strand

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"
	"weak"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
)

// A courier passes the messages of one collective call.
type courier struct {
	comm     *Comm
	name     string
	tag      int
	needs    representation.Traits // what the call's values depend on
	requests []pml.Request
	statuses []pml.Status
	expected []expected
	memory   []scratch // what Scratch has given, for the next call too
	given    int
	teams    coll.Teams // where the processes are
	sharing  bool       // the call may go by memory that the processes have in common
	number   int64      // of the call
	shown    int        // how many bytes are to be shown there
	steps    uint       // made there
	company  bool       // another goroutine waits for messages, as far as is known
	lent     []*byte    // where the bytes begin that others may read: their addresses alone keep nothing
	alone    bool       // the call goes on by itself
	sends    bool       // the call is over, and something goes on to be sent from its caller's memory
}

// expected is what a receive is to bring. Of a send bytes is ofSend, or ofCaller if it is from the caller's memory.
type expected struct{ bytes, from int }

const (
	ofSend   = -1
	ofCaller = -2
)

var (
	_ coll.Placed  = (*courier)(nil)
	_ coll.Sharing = (*courier)(nil)
)

// Rank implements [coll.Comm].
func (k *courier) Rank() int { return k.comm.rank }

// Size implements [coll.Comm].
func (k *courier) Size() int { return k.comm.Size() }

// Send implements [coll.Comm].
func (k *courier) Send(buf []byte, to int) error {
	r, err := k.comm.coll.Isend(buf, nil, to, k.tag, pml.Standard)
	if err == nil && r.Instant() {
		return nil
	}
	what := ofCaller
	if k.gave(buf) {
		what = ofSend
	}
	k.add(r, expected{what, to}, err)
	return err
}

// Recv implements [coll.Comm].
func (k *courier) Recv(buf []byte, from int) error {
	r, err := k.comm.coll.IrecvAs(pml.As{Needs: k.needs}, buf, nil, from, k.tag)
	k.add(r, expected{len(buf), from}, err)
	return err
}

func (k *courier) add(r pml.Request, e expected, err error) {
	if err == nil {
		k.requests, k.expected = append(k.requests, r), append(k.expected, e)
		k.statuses = append(k.statuses, pml.Status{})
	}
}

// Wait implements [coll.Comm].
func (k *courier) Wait(ctx context.Context) error {
	if len(k.requests) == 0 {
		return nil
	}
	wait := pml.WaitAll
	if k.alone {
		wait = pml.WaitAllBeside
	}
	failed, err := wait(ctx, k.requests, k.statuses)
	switch {
	case err != nil:
		k.leave()
	case len(failed) > 0:
		k.lettingGo(failed)
		err = failed[0].Err
	default:
		err = k.check()
	}
	k.forget()
	return err
}

// check finds processes that give other lengths.
func (k *courier) check() error {
	for i, e := range k.expected {
		if got := k.statuses[i].Count; e.bytes >= 0 && got != e.bytes {
			return k.comm.misfit(k.name, e.from, int64(got), int64(e.bytes))
		}
	}
	return nil
}

// leave ends what is under way, and notes whether something goes on by itself that is sent from the caller's memory.
func (k *courier) leave() {
	for i, r := range k.requests {
		if _, complete, err := r.EndNow(); k.expected[i].bytes == ofCaller && !complete && err == nil {
			k.sends = true
		}
	}
	k.forget()
}

// lettingGo notes whether one of the sends from the caller's memory goes on by itself that are waited for no more, since a member may never
// make the communicator ([pml.Context.Unmake]). No other send ends with these errors.
func (k *courier) lettingGo(failed []pml.Outcome) {
	for _, o := range failed {
		if k.expected[o.Index].bytes == ofCaller && (errors.Is(o.Err, ErrOutOfStep) || errors.Is(o.Err, ErrFreed)) {
			k.sends = true
		}
	}
}

// sendsOn is why a call has ended that goes on to send from its caller's memory. It is for the caller alone: later calls that are refused for
// the same cause send nothing.
type sendsOn struct{ cause error }

func (e *sendsOn) Error() string { return e.cause.Error() + "; what it sends goes on" }

func (e *sendsOn) Unwrap() []error { return []error{e.cause, ErrUnderway} }

// goingOn is the error of a call that has ended, and may go on to send from its caller's memory.
func goingOn(err error, sends bool) error {
	if sends {
		return &sendsOn{err}
	}
	return err
}

// forget makes room for what is begun next.
func (k *courier) forget() {
	k.requests, k.expected, k.statuses = k.requests[:0], k.expected[:0], k.statuses[:0]
}

// Teams implements [coll.Placed].
func (k *courier) Teams() *coll.Teams { return &k.teams }

// Scratch implements [coll.Comm].
func (k *courier) Scratch(n int) []byte {
	if k.given == len(k.memory) {
		k.memory = append(k.memory, scratch{})
	}
	k.given++
	return k.memory[k.given-1].take(n)
}

// gave reports whether memory is none of the caller's: it was given by Scratch.
func (k *courier) gave(buf []byte) bool {
	if len(buf) == 0 {
		return true
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	within := func(piece []byte) bool {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(piece)))
		return at >= from && at-from < uintptr(cap(piece))
	}
	for i := range k.memory[:k.given] {
		if s := &k.memory[i]; within(s.short) || within(s.long) {
			return true
		}
	}
	return false
}

// keptScratch is the longest memory that a communicator keeps from call to call. What is longer stays until the next collection of
// garbage: so calls that follow each other use it again, and one long call does not leave a communicator with as much as it needed.
const keptScratch = 64 << 10

// scratch is a piece of memory for calls.
type scratch struct {
	short []byte
	long  []byte             // during a call that needs more
	rests weak.Pointer[byte] // where that was,
	size  int                // and how long
}

// take returns n bytes.
func (s *scratch) take(n int) []byte {
	if n <= keptScratch {
		if cap(s.short) < n {
			s.short = make([]byte, n)
		}
		return s.short[:n]
	}
	if first := s.rests.Value(); first != nil && s.size >= n {
		s.long = unsafe.Slice(first, s.size)
	} else {
		s.long = make([]byte, n)
		s.rests, s.size = weak.Make(&s.long[0]), n
	}
	return s.long[:n]
}

// begin makes the courier ready for a call.
func (k *courier) begin(c *Comm, name string, tag int) {
	k.comm, k.name, k.tag, k.needs, k.given = c, name, tag, 0, 0
}

// end ends a call, and reports whether something goes on to be sent from its caller's memory. After an error something may still be read from that
// of the courier too.
func (k *courier) end(err error) (sends bool) {
	k.leave()
	sends, k.sends = k.sends, false
	clear(k.lent)
	k.lent = k.lent[:0]
	for i := range k.memory {
		k.memory[i].long = nil
	}
	if err != nil {
		k.memory = nil
	}
	return sends
}

// make makes a call, as what all have to give alike describes it.
func (k *courier) make(ctx context.Context, what call, make func(ctx context.Context, k *courier) error) error {
	if err := k.located(ctx); err != nil {
		return err
	}
	k.needs = what.needs()
	return make(ctx, k)
}

// carry makes a blocking collective call.
func (c *Comm) carry(ctx context.Context, what call, make func(ctx context.Context, k *courier) error) error {
	sends := false
	err := c.collectively(ctx, what, func(number int64) error {
		k := &c.courier
		k.begin(c, what.name, tagOf(number))
		err := errUnwound // unless it returns
		defer func() { sends = k.over(err) }()
		if why := k.common(ctx, number); why != nil {
			err = why
			return err
		}
		k.sharing, k.number = c.holding.use(), number
		err = k.make(ctx, what, make)
		return err
	})
	return goingOn(err, sends)
}

// over ends a blocking call as end does. After an error others may still read what this rank has lent.
func (k *courier) over(err error) (sends bool) {
	if k.sharing {
		if err != nil {
			k.comm.holding.memory.Leave()
		}
		k.sharing = false
		defer k.comm.holding.rest()
	}
	return k.end(err)
}

// couriers are for calls that go on by themselves.
var couriers = sync.Pool{New: func() any { return new(courier) }}

// begin makes a collective call that goes on by itself, on a goroutine of its own.
func (c *Comm) begin(what call, make func(ctx context.Context, k *courier) error) (Request, error) {
	if err := c.usable(); err != nil {
		return Request{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, err := c.coll.NewCompletion(cancel)
	if err != nil {
		cancel()
		return Request{}, err
	}
	number, err := c.turn.start(what.name)
	if err != nil {
		c.refused(what.name, number, err)
		done.Done(pml.Status{}, err)
		pml.Leave(done.Request())
		cancel()
		return Request{}, err
	}
	begun := c.traceCall(what.name, number)
	go func() {
		defer cancel()
		err, sends := errUnwound, false // unless it returns
		defer func() {
			c.traceCalled(begun, err)
			if c.turn.fail(what.name, err); err != nil {
				c.tellLeft(what.name, c.turn.next(), err) // those that it has begun since this process makes, or leaves by themselves
			}
			done.Done(pml.Status{}, goingOn(err, sends))
		}()
		sends, err = c.makeAlone(ctx, what, tagOf(number), make)
		err = c.explained(what.name, own(err))
	}()
	done.Goes()
	return Request{done.Request()}, nil
}

// makeAlone makes a call with a courier of its own, and reports whether something goes on to be sent from its caller's memory.
func (c *Comm) makeAlone(ctx context.Context, what call, tag int, make func(ctx context.Context, k *courier) error) (sends bool, err error) {
	if c.world.checks {
		what.alone = true // one that blocks may go by memory, and meets none that does not
		if err := c.compare(ctx, tag, what); err != nil {
			return false, err
		}
	}
	k := couriers.Get().(*courier)
	k.begin(c, what.name, tag)
	k.alone = true
	err = errUnwound // unless it returns
	defer func() {
		sends = k.end(err)
		k.comm, k.alone = nil, false
		couriers.Put(k)
	}()
	err = k.make(ctx, what, make)
	return false, err
}

// declareCollectives adds the parameters of collective calls.
func declareCollectives(r *param.Registry) {
	r.Declare(param.Spec{Name: "coll_check", Kind: param.Bool, Default: "false", Level: param.User, Alike: true,
		Help: "Compare what ranks call before each collective call, which costs a message: calls in different order, or with different roots, lengths, " +
			"operations or types, then end with an error that names both. All ranks have the same."})
	r.Declare(param.Spec{Name: "coll_shared_size", Kind: param.Size, Default: "256K", Min: "0", Max: "4M", Level: param.Tuner,
		Help: "How many bytes a rank shows to all others at a time in memory that the ranks of a communicator have in common: those of one host, 64 at most, that use btl sm, " +
			"from some collective call on (coll_shared_from), and 16M for each rank of all communicators together. Each rank takes four times as much of it, and 32K. Unless it is set, more than 16 ranks have half of that, more than 32 a quarter. " +
			"0: there is none, and all calls go by messages. So it is if ranks differ."})
	r.Declare(param.Spec{Name: "coll_shared_from", Kind: param.Int, Default: "128", Min: "1", Max: "1000000", Level: param.Tuner, Alike: true,
		Help: "In which collective call of a communicator its ranks make the memory of coll_shared_size. To make it takes as long as some hundred short calls save by it. All ranks have the same."})
	r.Declare(param.Spec{Name: "coll_lend", Kind: param.Bool, Default: "true", Level: param.Tuner,
		Help: "Let ranks that have memory in common read what is long from each other's own memory (process_vm_readv), where the system lets all of them. " +
			"Nobody does so if it is false on any rank."})
	for _, call := range slices.Sorted(maps.Keys(coll.Algorithms)) {
		names := coll.Algorithms[call]
		r.Declare(param.Spec{Name: "coll_" + call, Kind: param.Enum, Choices: append([]string{"auto"}, names...), Default: "auto", Level: param.Tuner, Alike: true,
			Help: "How " + call + " is made: " + strings.Join(names, ", ") + "; auto chooses by length and number of ranks. All ranks have the same."})
	}
}

// choice reads them.
func choice(v *param.Values) coll.Choice {
	of := func(call string) string {
		if name := v.String("coll_" + call); name != "auto" {
			return name
		}
		return ""
	}
	return coll.Choice{
		Barrier: of("barrier"), ReduceScatter: of("reducescatter"), Bcast: of("bcast"), Reduce: of("reduce"), Allreduce: of("allreduce"), Gather: of("gather"),
		Scatter: of("scatter"), Allgather: of("allgather"), Alltoall: of("alltoall"),
	}
}
