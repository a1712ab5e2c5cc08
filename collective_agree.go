package strand

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/agreement"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// pacts are a communicator's agreements. The engine's lock guards them.
type pacts struct {
	calls  uint64
	by     map[uint64]*pact // by number: the last ones, since others may ask for their outcome
	absent map[int]bool     // members that have freed the communicator
	told   agreement.Set    // members that others have found gone
	known  agreement.Set    // members whose failure was taken note of
}

// pact is one agreement.
type pact struct {
	node   *agreement.Node
	begun  bool // this process takes part
	done   pml.Completion
	gaveUp error // why the caller does not wait for the outcome any more
}

const (
	kindAgree = iota
	kindShrink
)

// Agree returns the bits of flags that all living processes of the communicator give, the same everywhere, even if processes fail
// meanwhile (MPIX_Comm_agree of ULFM). All processes call it, whether or not the communicator still takes other
// collective calls, and calls of Agree and Shrink come in the same order.
//
// If processes have failed, have left the world or have freed the communicator, of which not all had taken note by [Comm.AckFailed], Agree
// returns the bits and a [*PeerFailedError] for the first of them, everywhere the same one. A process whose context ends, within the call or
// before it, has given its flags all the same; its next Agree is the others' next one.
//
// What is agreed on rests on who counts as failed (docs/ARCHITECTURE.md, "Failure and close"). A process that others take for failed, though it lives, is told so by the error.
func (c *Comm) Agree(ctx context.Context, flags uint64) (uint64, error) {
	v, err := c.agree(ctx, "Agree", kindAgree, flags)
	if err != nil {
		return 0, err
	}
	return v.Flags, c.unknown(v)
}

// Shrink makes a communicator of the processes of c that live, in the order of their ranks, and with c's ordering and urgency
// (MPIX_Comm_shrink of ULFM). All of them call it, whether or not c still takes other collective calls. All
// get the same one, even if processes fail meanwhile; who fails then may be a member of it.
//
// If the context of a process ends first, or before the call, the new communicator takes no collective call: the others are told.
func (c *Comm) Shrink(ctx context.Context) (*Comm, error) {
	v, err := c.agree(ctx, "Shrink", kindShrink, 0)
	if err != nil {
		return nil, err
	}
	d, err := c.world.newComm(v.ID, c.survivors(v), c.manner)
	if err != nil {
		return nil, fmt.Errorf("Shrink: %w", err)
	}
	return d, nil
}

// survivors are the members that are not gone.
func (c *Comm) survivors(v *agreement.Value) *pml.Group {
	world := make([]int32, 0, c.Size())
	for rank := range c.Size() {
		if !v.Gone.Has(rank) {
			world = append(world, int32(c.group.World(rank)))
		}
	}
	return pml.NewGroup(world)
}

// unknown is the error for the first member that is gone and of which not all had taken note.
func (c *Comm) unknown(v *agreement.Value) error {
	for rank := range c.Size() {
		if v.Gone.Has(rank) && !v.Known.Has(rank) {
			var e *PeerFailedError
			c.world.pml.Locked(func() { e = c.failureOf(rank) })
			return fmt.Errorf("Agree: %w", e)
		}
	}
	return nil
}

// failureOf is the error for a member that is gone.
func (c *Comm) failureOf(rank int) *PeerFailedError {
	cause := c.departed(rank)
	if e, is := errors.AsType[*pml.PeerFailedError](cause); is {
		return &PeerFailedError{Rank: rank, WorldRank: c.group.World(rank), Host: e.Host, Cause: e.Cause}
	}
	switch {
	case cause != nil:
	case c.pacts.absent[rank]:
		cause = errors.New("it has freed the communicator, and takes no part in its agreements any more")
	default:
		cause = errors.New("another rank has found so")
	}
	return &PeerFailedError{Rank: rank, WorldRank: c.group.World(rank), Cause: cause}
}

// agree makes an agreement with all members. One whose context has ended before counts as one whose context ends now does: the caller can not tell
// them apart, and is to know which of its calls the others' next one meets.
func (c *Comm) agree(ctx context.Context, name string, kind uint8, flags uint64) (v *agreement.Value, err error) {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return nil, err
	}
	if err := c.turn.enter(name); err != nil {
		return nil, err
	}
	defer c.turn.end()
	done, err := c.coll.NewCompletion(nil)
	if err != nil {
		return nil, err
	}
	var p *pact
	var number uint64
	c.world.pml.Locked(func() {
		if err = c.mayAgree(name); err != nil {
			done.DoneLocked(pml.Status{}, err)
			return
		}
		p = c.nextPact(done)
		number = c.pacts.calls
		c.world.pml.Awaits(1)
		p.node.Contribute(agreement.Value{Kind: kind, Flags: flags, Gone: c.goneMembers(), Known: c.knownMembers()})
	})
	if err != nil {
		pml.Leave(done.Request())
		return nil, err
	}
	begun := c.traceCall(name, int64(number))
	defer func() { c.traceCalled(begun, err) }()
	if _, err = done.Request().Wait(ctx); err != nil {
		pml.Leave(done.Request())
	}
	c.world.pml.Locked(func() {
		c.world.pml.Awaits(-1)
		if err != nil && p.node.Outcome() != nil && errors.Is(err, ctx.Err()) {
			err = nil // the outcome is there, though the context has ended at the same time
		}
		p.gaveUp = err
	})
	if err != nil {
		return nil, err
	}
	v = p.node.Outcome()
	switch {
	case v.Odd >= 0:
		err = fmt.Errorf("%s: ranks of the communicator call Agree and Shrink in different orders: rank %d does what the lowest rank does not", name, v.Odd)
	case v.Gone.Has(c.rank):
		err = fmt.Errorf("%s: the other ranks of the communicator have agreed that this one, rank %d, has failed: they can not reach it", name, c.rank)
	}
	return v, err
}

// endAgreements ends those that are not decided.
func (c *Comm) endAgreements(err error) {
	for _, p := range c.pacts.by {
		if p.begun && p.node.Outcome() == nil {
			p.giveUp(err)
		}
	}
}

// giveUp ends the wait for an outcome, which may be there before the caller has woken up.
func (p *pact) giveUp(err error) {
	p.gaveUp = err
	p.done.DoneLocked(pml.Status{}, err)
}

// mostAhead is how many agreements a process may have given up that are not decided.
const mostAhead = 16

// mayAgree reports why this process begins no agreement.
func (c *Comm) mayAgree(name string) error {
	switch {
	case c.freed:
		return ErrFreed
	case c.unmade != nil:
		return c.unmade
	}
	if p := c.pacts.by[c.pacts.calls+1-mostAhead]; p != nil && p.node.Outcome() == nil {
		return fmt.Errorf("%s: rank %d has given up %d agreements, to the first of which not all other ranks have come yet: call it again later, or with a context that lasts longer",
			name, c.rank, mostAhead)
	}
	return nil
}

// skipAgreements tells those who have asked for agreements that this process has not begun, and never will.
func (c *Comm) skipAgreements() {
	skips := false
	for number, p := range c.pacts.by {
		if !p.begun {
			delete(c.pacts.by, number)
			skips = true
		}
	}
	for rank := range c.Size() {
		if skips && rank != c.rank && !c.isGone(rank) {
			c.world.pml.Notify(c.group.World(rank), notice(noticeFreed, c.id))
		}
	}
}

// agrees reports whether an agreement in which this process takes part is not decided.
func (c *Comm) agrees() bool {
	for _, p := range c.pacts.by {
		if p.begun && p.node.Outcome() == nil {
			return true
		}
	}
	return false
}

// nextPact is the one that this process begins now.
func (c *Comm) nextPact(done pml.Completion) *pact {
	c.pacts.calls++
	number := c.pacts.calls
	// The one mostAhead before this is decided, so all have begun it, and nobody waits for the one before that.
	delete(c.pacts.by, number-mostAhead-1)
	p := c.pact(number)
	p.done, p.begun = done, true
	return p
}

// pact returns the agreement of a number.
func (c *Comm) pact(number uint64) *pact {
	if p := c.pacts.by[number]; p != nil {
		return p
	}
	p := &pact{}
	send := func(to int, m agreement.Message) {
		b := binary.LittleEndian.AppendUint64(notice(noticeAgreement, c.id), number)
		c.world.pml.Notify(c.group.World(to), m.Append(b))
	}
	id := func(kind uint8) uint64 {
		if kind != kindShrink {
			return 0 // nothing is made of it
		}
		return c.world.nextID()
	}
	p.node = agreement.New(c.rank, c.Size(), send, id, func(v agreement.Value) { c.decided(p, v) })
	for rank := range c.Size() {
		if c.isGone(rank) {
			p.node.Leave(rank)
		}
	}
	if c.pacts.by == nil {
		c.pacts.by = make(map[uint64]*pact)
	}
	c.pacts.by[number] = p
	return p
}

// decided wakes who waits. If nobody does any more, the others would wait for this process in the communicator that it has not
// made: they are told.
func (c *Comm) decided(p *pact, v agreement.Value) {
	c.pacts.told = v.Gone
	if p.begun {
		p.done.DoneLocked(pml.Status{}, nil)
	}
	if p.gaveUp != nil && v.Kind == kindShrink && v.Odd < 0 && !v.Gone.Has(c.rank) {
		go func() {
			if d, err := c.world.newComm(v.ID, c.survivors(&v), c.manner); err == nil {
				d.turn.fail("Shrink", p.gaveUp)
				d.tellLeft("Shrink", 1, p.gaveUp)
				_ = d.Free() // it is not the world's own
			}
		}()
	}
	c.retire()
}

// heardAgreement takes a step of an agreement from a member.
func (c *Comm) heardAgreement(from int, b []byte) {
	if len(b) < 8 {
		return
	}
	number := binary.LittleEndian.Uint64(b)
	if c.freed && c.pacts.by[number] == nil {
		c.world.pml.Notify(c.group.World(from), notice(noticeFreed, c.id))
		return
	}
	// For more calls a member needs this process.
	if number+mostAhead < c.pacts.calls || number > c.pacts.calls+mostAhead || number == 0 {
		return
	}
	m, err := agreement.Decode(append([]byte(nil), b[8:]...), c.Size())
	if err == nil {
		c.pact(number).node.Receive(from, m)
	}
}

// memberLeaves takes note of a member that takes no part any more.
func (c *Comm) memberLeaves(rank int) {
	for _, p := range c.pacts.by {
		p.node.Leave(rank)
	}
}

// goneMembers are those that this process takes for gone.
func (c *Comm) goneMembers() agreement.Set {
	s := agreement.NewSet(c.Size())
	for rank := range c.Size() {
		if c.isGone(rank) || c.pacts.told.Has(rank) {
			s.Add(rank)
		}
	}
	return s
}

func (c *Comm) knownMembers() agreement.Set {
	s := agreement.NewSet(c.Size())
	copy(s, c.pacts.known)
	return s
}
