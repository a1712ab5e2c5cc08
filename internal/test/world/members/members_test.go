package members_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
)

// The failure of a rank has its number in the communicator that it is found in, and that in
// the world, whatever the call.
func TestFailureNamesTheRankInTheCommunicator(t *testing.T) {
	const n, victim, as = 3, 2, 0 // its rank in the reversed communicator
	leak.Check(t)
	var wg sync.WaitGroup
	for rank, j := range world.ToldJobs(n) {
		wg.Go(func() {
			err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
				c, err := w.Comm().Split(ctx, 0, -w.Rank())
				if err != nil {
					return err
				}
				if w.Rank() != victim {
					return findFailure(ctx, t, c, as, victim)
				}
				for range n - 1 { // the others have posted receives
					if _, err := c.Recv(ctx, nil, strand.AnySource, tagDie); err != nil {
						return err
					}
				}
				return errors.New("gave up")
			}, strand.WithJob(j), world.FromEnvironment())
			if rank != victim {
				assert.NoError(t, err, "rank %d", rank)
			}
		})
	}
	wg.Wait()
}

func findFailure(ctx context.Context, t *testing.T, c *strand.Comm, rank, worldRank int) error {
	check := func(what string, err error) {
		failed, is := errors.AsType[*strand.PeerFailedError](err)
		if assert.True(t, is, "%s: %v", what, err) {
			assert.Equal(t, []int{rank, worldRank}, []int{failed.Rank, failed.WorldRank}, what)
			assert.ErrorContains(t, err, fmt.Sprintf("rank %d on localhost (rank %d of the communicator) has failed: it gave up", worldRank, rank), what)
		}
	}
	posted, err := c.Irecv(nil, rank, tagNever)
	if err != nil {
		return err
	}
	wild, err := c.Irecv(nil, strand.AnySource, tagNever)
	if err != nil {
		return err
	}
	if err := c.Send(ctx, nil, rank, tagDie); err != nil {
		return err
	}
	_, err = posted.Wait(ctx)
	check("a posted receive", err)
	check("one from any source", strand.WaitAll(ctx, []strand.Request{{}, wild}, nil))
	for _, call := range calls {
		if call.name != "Sendrecv" { // its other half names somebody else
			check(call.name, call.do(ctx, c, rank, 1))
		}
		if !call.sends {
			check(call.name+" from any source", call.do(ctx, c, strand.AnySource, 1))
		}
	}
	check("Barrier", c.Barrier(ctx))
	check("the Barrier after it", c.Barrier(ctx))
	other := 3 - c.Rank() // which may still need this rank to be there
	_, err = c.Sendrecv(ctx, nil, other, tagDie, nil, other, tagDie)
	return err
}

// Ranks are translated from any communicator of a world to any other.
func TestTranslate(t *testing.T) {
	_, errs := runAll(t, 4, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		half, err := c.Split(ctx, w.Rank()%2, -w.Rank())
		if err != nil {
			return err
		}
		reversed, err := c.Split(ctx, 0, -w.Rank())
		if err != nil {
			return err
		}
		odd := w.Rank() % 2
		for _, x := range []struct {
			from     *strand.Comm
			rank     int
			to       *strand.Comm
			want     int
			isMember bool
		}{
			{c, 3, reversed, 0, true},
			{reversed, 3, c, 0, true},
			{half, 0, c, 2 + odd, true},
			{half, 1, c, odd, true},
			{half, 1, reversed, 3 - odd, true},
			{c, 2 + odd, half, 0, true},
			{c, 3 - odd, half, 0, false}, // of the other half
			{half, half.Rank(), half, half.Rank(), true},
			{c, strand.ProcNull, half, strand.ProcNull, true},
			{c, 4, reversed, 0, false},
			{c, strand.AnySource, reversed, 0, false},
			{half, 2, c, 0, false},
		} {
			got, ok := x.from.Translate(x.rank, x.to)
			assert.Equal(t, x.isMember, ok, "rank %d, %d of %d to one of %d", w.Rank(), x.rank, x.from.Size(), x.to.Size())
			assert.Equal(t, x.want, got, "rank %d, %d of %d to one of %d", w.Rank(), x.rank, x.from.Size(), x.to.Size())
		}
		return nil
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
}
