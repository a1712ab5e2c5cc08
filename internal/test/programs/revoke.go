package programs

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/calls"
)

// mostRevoked is how long a collective call is at most that may be ended.
const mostRevoked = 20_000

// revoke has a communicator made, in which one member leaves the others in their collective calls and ends these. Messages
// go on.
func (r *rank) revoke(s *step) error {
	c, err := r.comms[s.comm].Dup(r.ctx)
	if err != nil {
		return err
	}
	common := rand.New(rand.NewPCG(s.bits, 0x4E40))
	for range common.IntN(3) {
		// The member that ends the calls may have left this one when others are still in it.
		if err := calls.Draw(common, mostRevoked).Make(r.ctx, c); err != nil && !errors.Is(err, strand.ErrOutOfStep) {
			return err
		}
	}
	after := calls.Draw(common, mostRevoked)
	if r.me == s.rank {
		if err := r.leave(c, after); err != nil {
			return err
		}
		r.tally.Revoked++
	} else if err := after.Make(r.ctx, c); err != nil && !errors.Is(err, strand.ErrOutOfStep) {
		return err // a call that needs nothing of that member may have gone well
	}
	if err := r.isRevoked(c); err != nil {
		return err
	}
	if err := passOn(r, c); err != nil {
		return err
	}
	if common.IntN(2) == 0 {
		if err := r.succeed(c, s); err != nil {
			return err
		}
	}
	return c.Free()
}

// leave makes a call with a context that ends, or none, and ends those of the others.
func (r *rank) leave(c *strand.Comm, call calls.Call) error {
	if r.random.IntN(2) == 0 {
		r.yield()
		return c.Revoke()
	}
	ctx := r.brief()
	defer ctx.cancel()
	err := call.Make(ctx, c)
	if ended, wrong := ctx.ended(call.String(), err); wrong != nil || !ended && err != nil && !errors.Is(err, strand.ErrOutOfStep) {
		return errors.Join(wrong, err)
	}
	return c.Revoke()
}

// succeed has the members agree on something although the communicator takes no collective call any more, and make another one of it.
func (r *rank) succeed(c *strand.Comm, s *step) error {
	if err := r.agree(c, s); err != nil {
		return err
	}
	next, err := c.Shrink(r.ctx)
	if err != nil {
		return err
	}
	if next.Size() != c.Size() || next.Rank() != c.Rank() {
		return fmt.Errorf("of a communicator all of whose %d members live, Shrink has made one of %d, in which rank %d is %d", c.Size(), next.Size(), c.Rank(), next.Rank())
	}
	if err := next.Barrier(r.ctx); err != nil {
		return err
	}
	return next.Free()
}

// agree has the members agree on the bits that all of them give.
func (r *rank) agree(c *strand.Comm, s *step) error {
	want := ^uint64(0)
	for rank := range c.Size() {
		want &= agreeable(s, rank)
	}
	got, err := c.Agree(r.ctx, agreeable(s, c.Rank()))
	if err == nil && got != want {
		err = fmt.Errorf("the members of a communicator have %#x in common, and have agreed on %#x", want, got)
	}
	r.tally.Agreed++
	return err
}

// agreeable is what a member gives.
func agreeable(s *step, rank int) uint64 { return s.bits | mix(s.bits^uint64(rank)) }

// isRevoked tries calls that need all members.
func (r *rank) isRevoked(c *strand.Comm) error {
	request, err := c.Ibarrier()
	if err == nil {
		_, err = request.Wait(r.ctx)
	}
	if !errors.Is(err, strand.ErrOutOfStep) {
		return fmt.Errorf("call Ibarrier of a communicator whose calls a member has ended: %s", fmt.Sprint(err))
	}
	if err := c.Barrier(r.ctx); !errors.Is(err, strand.ErrOutOfStep) {
		return fmt.Errorf("call Barrier of a communicator whose calls a member has ended: %s", fmt.Sprint(err))
	}
	return nil
}

// passOn has each member pass a byte on to the next one.
func passOn(r *rank, c *strand.Comm) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	b := []byte{byte(c.Rank())}
	if _, err := c.SendrecvReplace(r.ctx, b, next, 0, last, 0); err != nil || b[0] != byte(last) {
		return fmt.Errorf("a message in a communicator whose collective calls were ended: got %d of rank %d, error %s", b[0], last, fmt.Sprint(err))
	}
	return nil
}
