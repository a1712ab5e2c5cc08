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
		r.yield()
		if err := c.Revoke(); err != nil {
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
	return c.Free()
}

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
