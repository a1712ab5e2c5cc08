package strand

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/borrowing"
	"github.com/strandmp/strand/internal/coherence"
	"github.com/strandmp/strand/internal/commons"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
)

// mostCommoners is how many ranks have memory in common: each looks at what each of the others has written.
const mostCommoners = 64

// holding is a communicator's part of the memory that its ranks have in common, if they are on one host and use shared memory.
type holding struct {
	tried  bool // by the calls, one after the other
	memory *commons.Memory
	share  allotment
	state  atomic.Int32
}

// What a holding's memory may be: unmapped by who calls release, or by the call that is using it.
const (
	holdingIdle = iota
	holdingUsed
	holdingReleased
)

// use has the memory stay until rest, and reports whether it is there.
func (h *holding) use() bool {
	return h.memory != nil && h.state.CompareAndSwap(holdingIdle, holdingUsed)
}

func (h *holding) rest() {
	if !h.state.CompareAndSwap(holdingUsed, holdingIdle) {
		h.close()
	}
}

// close unmaps the memory.
func (h *holding) close() {
	h.memory.Close()
	h.share.giveBack()
}

// release unmaps the memory, at once or when the call ends that is using it.
func (h *holding) release() {
	if h.state.Swap(holdingReleased) == holdingIdle && h.memory != nil {
		h.close()
	}
}

// keep takes memory that has just been made, and what this rank has of it.
func (h *holding) keep(m *commons.Memory, s allotment) {
	if !h.state.CompareAndSwap(holdingIdle, holdingUsed) { // the communicator was freed meanwhile
		m.Close()
		s.giveBack()
		return
	}
	h.memory, h.share = m, s
	h.rest()
}

// mostCommons is how many bytes a rank has of all memories together: some 15 of them, with sixteen ranks. One alone may be larger, and the
// world's own is always there. Programs may make communicators by the thousand, and never free them.
const mostCommons = 16 << 20

// A budget is what a rank has of memories: as many bytes of each as it would have if all its ranks had as much.
type budget struct{ taken atomic.Int64 }

// An allotment is a rank's part of one of them.
type allotment struct {
	of    *budget
	bytes int64
}

var errNoCommons = errors.New("coll_shared_size is 0")

// take takes a share of memory for so many ranks that show up to room bytes at a time.
func (b *budget) take(ranks, room int, world bool) (allotment, error) {
	if room == 0 {
		return allotment{}, errNoCommons
	}
	s := allotment{b, int64(commons.Size(ranks, room) / ranks)}
	if all := b.taken.Add(s.bytes); all > mostCommons && all > s.bytes && !world {
		s.giveBack()
		return allotment{}, fmt.Errorf("a rank has %d bytes of that of other communicators: free those that are not needed any more, or lower coll_shared_size", all-s.bytes)
	}
	return s, nil
}

func (s allotment) giveBack() {
	if s.of != nil {
		s.of.taken.Add(-s.bytes)
	}
}

// common has the ranks of a communicator have memory in common, from some call on. All ranks find the same: that they do, or that they do not.
func (k *courier) common(ctx context.Context, number int64) error {
	c := k.comm
	h := &c.holding
	if h.tried || number < c.world.commonsFrom {
		return nil
	}
	h.tried = true
	room := sharedSize(c.world.params, c.Size())
	if c.Size() < 2 || c.Size() > mostCommoners {
		return nil
	}
	if err := k.locate(ctx); err != nil {
		return err
	}
	if p := c.where.places.Load(); !p.Lone() || !p.ByMemory {
		return nil
	}
	defer func(tag, given int) { k.tag, k.given = tag, given }(k.tag, k.given)
	k.tag = tagCommons
	s, why := c.world.commons.take(c.Size(), room, c.first)
	m, err := k.makeCommons(ctx, room, why)
	if m != nil {
		h.keep(m, s)
	} else {
		s.giveBack()
	}
	return err
}

// leastShared is the least that a rank shows at a time.
const leastShared = 4 << 10

// sharedSize is how many bytes each of so many ranks shows at a time; 0: none.
func sharedSize(params *param.Values, ranks int) int {
	v := params.Value("coll_shared_size")
	room := int(params.Size("coll_shared_size"))
	if v.Source.Kind == param.Default {
		for n := 16; n < ranks; n *= 2 {
			room /= 2
		}
	}
	if room > 0 {
		room = max(room, leastShared)
	}
	return room
}

// makeCommons has rank 0 make the memory and all others join it. Where one of them can not, nobody has it. A rank whose parameters say
// that there is none takes part too: it does not know what the others' say.
func (k *courier) makeCommons(ctx context.Context, room int, why error) (*commons.Memory, error) {
	c := k.comm
	var m *commons.Memory
	var t commons.Ticket
	if why == nil && c.rank == 0 {
		var handed func()
		if m, t, handed, why = commons.Make(c.Size(), room); why == nil {
			defer handed()
		}
	}
	told := k.Scratch(len(t))
	copy(told, t[:])
	err := coll.Bcast(ctx, k, &coll.Choice{Bcast: "binomial"}, told, 0)
	if t = commons.Ticket(told); err == nil && !t.Empty() {
		if why == nil && c.rank > 0 {
			m, why = commons.Join(t, c.rank, c.Size(), room)
		}
		if m != nil && c.world.lends() {
			m.OfferLoans()
		}
		var lacking bool
		if lacking, err = k.anyOf(ctx, m == nil); err == nil && !lacking {
			if err = k.tryLoans(ctx, m); err == nil {
				c.world.say(btl.LogInfo, fmt.Sprintf("the %d ranks of a communicator have %d bytes of memory in common for collective calls", c.Size(), commons.Size(c.Size(), room)))
				return m, nil
			}
		}
	}
	if m != nil {
		m.Close()
	}
	if why != nil && !errors.Is(why, errNoCommons) {
		c.world.say(btl.LogInfo, fmt.Sprintf("the ranks of a communicator have no memory in common for collective calls: %v", why))
	}
	return nil, err
}

// tryLoans has all ranks find out whether all of them can read each other's own memory.
func (k *courier) tryLoans(ctx context.Context, m *commons.Memory) error {
	why := m.TryLoans()
	refused, err := k.anyOf(ctx, why != nil)
	if refused || err != nil {
		m.RefuseLoans()
	}
	if why != nil && k.comm.world.lends() {
		k.comm.world.say(btl.LogInfo, fmt.Sprintf("the ranks of a communicator do not read each other's memory in collective calls: %v", why))
	}
	return err
}

// anyOf reports whether anything is so on any rank.
func (k *courier) anyOf(ctx context.Context, is bool) (bool, error) {
	found := k.Scratch(1)
	found[0] = 0
	if is {
		found[0] = 1
	}
	err := coll.Allreduce(ctx, k, &coll.Choice{Allreduce: "doubling"}, eitherOp, found, found)
	return found[0] != 0, err
}

// lends reports whether the user lets other processes read this one's own memory.
func (w *World) lends() bool { return w.params.Bool("coll_lend") }

// eitherOp is the logical or.
var eitherOp = coll.Op{Size: 1, Commutative: true, Fold: func(acc, in []byte, _ bool) { acc[0] |= in[0] }}

// Commons implements [coll.Sharing].
func (k *courier) Commons() coll.Commons {
	if !k.sharing {
		return nil
	}
	return (*commoner)(k)
}

// A commoner is a courier as package coll has memory by it.
type commoner courier

var _ coll.Commons = (*commoner)(nil)

func (o *commoner) held() *commons.Memory { return o.comm.holding.memory }

// Room implements [coll.Commons].
func (o *commoner) Room() int { return o.held().Room() }

// Crowded implements [coll.Commons].
func (o *commoner) Crowded() bool { return o.comm.where.places.Load().Crowded }

// Begin implements [coll.Commons].
func (o *commoner) Begin(n int) { o.held().Begin(n, uint64(o.number)) }

// Place implements [coll.Commons].
func (o *commoner) Place(ctx context.Context, n int) ([]byte, error) {
	m := o.held()
	for rank := m.Reader(); rank >= 0; rank = m.Reader() {
		if err := o.await(ctx, rank, commons.Past); err != nil {
			return nil, err
		}
	}
	o.shown = n
	return m.Place(n), nil
}

// Copy implements [coll.Commons].
func (o *commoner) Copy(to, from []byte) int { return coherence.Copy(to, from) }

// Show implements [coll.Commons].
func (o *commoner) Show(lends bool) error {
	o.held().Show(o.shown, lends)
	return o.wake()
}

// Look implements [coll.Commons].
func (o *commoner) Look(ctx context.Context, rank, n int) ([]byte, error) {
	m := o.held()
	if !m.Has(rank, commons.Shown) {
		if err := o.await(ctx, rank, commons.Shown); err != nil {
			return nil, err
		}
	}
	b, lends, err := m.Look(rank)
	switch {
	case err != nil:
	case lends && n >= 0:
		err = o.Misfit(rank, coll.LoanLength(b), n)
	case lends != (n == coll.ALoan), lends && coll.LoanLength(b) < 0:
		err = o.comm.strayed(o.name, rank)
	case n >= 0 && len(b) != n:
		err = o.Misfit(rank, len(b), n)
	}
	return b, err
}

// Lends implements [coll.Commons].
func (o *commoner) Lends() bool { return o.held().Lends() }

// Address implements [coll.Commons]. What the program does not use any more stays until the call has ended.
func (o *commoner) Address(b []byte) uint64 {
	o.lent = append(o.lent, &b[0])
	return o.held().Address(b)
}

// Read implements [coll.Commons].
func (o *commoner) Read(ctx context.Context, rank int, address uint64, to []byte) error {
	m := o.held()
	err := m.Read(rank, address, to)
	left := m.HasLeft(rank)
	switch {
	case err == nil && !left:
		return nil
	case err == nil:
		err = errHasLeft
		fallthrough
	case left, borrowing.Gone(err): // what a rank has lent that has left it may have given to the system
		if err := o.hear(ctx, rank); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: what rank %d lends can not be read: %w", o.name, rank, err)
}

var errHasLeft = errors.New("it has left the call")

// hear waits for a message of a rank that has left the call, or whose process is there no more, as it seems. So it ends with the error of such a wait.
func (o *commoner) hear(ctx context.Context, rank int) error {
	r, err := o.comm.coll.Irecv(nil, nil, rank, tagAwake)
	if err == nil {
		_, err = r.Wait(ctx)
	}
	if err != nil {
		pml.Leave(r)
	}
	return err
}

// Misfit implements [coll.Commons].
func (o *commoner) Misfit(rank, got, due int) error {
	return o.comm.misfit(o.name, rank, int64(got), int64(due))
}

// End implements [coll.Commons].
func (o *commoner) End(all bool) error {
	m := o.held()
	if all {
		m.SawAll()
	}
	m.End()
	if o.steps++; o.steps%glanceEvery == 0 {
		o.company = o.comm.world.pml.Glance(o.steps%offerEvery == 0 && !o.Crowded())
	}
	return o.wake()
}

const (
	// glanceEvery is at every how many steps a rank looks after messages, which go on while it makes calls by memory.
	glanceEvery = 8
	// offerEvery is at every how many it offers the processor: it never waits where all come at the same time, and other threads of the
	// ranks, in a message each, would have to wait until the system takes the processor from it. In a crowd each wait is such an offer.
	offerEvery = 64
)

// wake wakes those who wait for what this rank has done, by a message.
func (o *commoner) wake() error {
	m := o.held()
	for rank := m.Sleeper(0); rank >= 0; rank = m.Sleeper(rank + 1) {
		r, err := o.comm.coll.Isend(nil, nil, rank, tagAwake, pml.Standard)
		if err != nil {
			return err
		}
		pml.Leave(r) // it goes by itself
	}
	return nil
}

const (
	// quickLooks is how often a rank looks at the memory before it waits for a message: some 20 µs.
	quickLooks = 500
	// crowdLooks is how often where ranks outnumber the processors. It lets others run before each look.
	crowdLooks = 16
	// briefLooks is how often where another goroutine of the rank waits for messages.
	briefLooks = 8
)

// await waits until a rank has done something.
func (o *commoner) await(ctx context.Context, rank int, what commons.Awaited) error {
	m := o.held()
	if o.company {
		if m.Spin(rank, what, briefLooks) {
			return nil
		}
	} else if o.Crowded() {
		for range crowdLooks {
			if engine.LetOthersRun(); m.Has(rank, what) {
				return nil
			}
		}
	} else if m.Spin(rank, what, quickLooks) {
		return nil
	}
	for !m.Has(rank, what) {
		if m.Beyond(rank) && !m.Has(rank, what) {
			return o.comm.strayed(o.name, rank)
		}
		if m.Behind(rank) { // it may sleep until this rank does what was due in that call
			if err := o.wake(); err != nil {
				return err
			}
		}
		if err := o.sleep(ctx, rank, what); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits for the message of a rank that has done something. So a wait for what is in the memory is one for a message: it ends as that
// does, when the rank has failed or left, when the call was left elsewhere, or with the context; and it shows where waits are shown.
func (o *commoner) sleep(ctx context.Context, rank int, what commons.Awaited) error {
	m := o.held()
	r, err := o.comm.coll.Irecv(nil, nil, rank, tagAwake)
	if err == nil {
		if m.Wait(rank); (m.Has(rank, what) || m.Beyond(rank)) && m.Awake() {
			pml.Leave(r)
			return nil
		}
		_, err = r.Wait(ctx)
		m.Awake()
	}
	if err != nil {
		if pml.Leave(r); m.Has(rank, what) {
			return nil // it has done so before it left
		}
	}
	return err
}

// releaseAll unmaps the memory of all communicators.
func (w *World) releaseAll() {
	var all []*Comm
	w.pml.Locked(func() {
		for _, c := range w.offices.comms {
			all = append(all, c)
		}
	})
	for _, c := range all {
		c.holding.release()
	}
}
