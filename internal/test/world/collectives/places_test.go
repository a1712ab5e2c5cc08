package collectives_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// The ranks of this host are one communicator, in the order of their keys.
func TestSplitShared(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		w := world.Open(t, n, strand.WithParam("btl", "tcp,self"))
		together(t, w, func(ctx context.Context, c *strand.Comm) error {
			s, err := c.SplitShared(ctx, -c.Rank())
			if err != nil {
				return err
			}
			assert.Equal(t, n, s.Size())
			assert.Equal(t, n-1-c.Rank(), s.Rank())
			return s.Free()
		})
	}
}

// brief is a context that has ended when it is asked for the second time.
type brief struct {
	context.Context
	asked *atomic.Int32
}

func (b brief) Err() error {
	if b.asked.Add(1) > 1 {
		return context.Canceled
	}
	return b.Context.Err()
}

// A context that ends within SplitShared, whenever that is, ends it for the others too.
func TestWhoLeavesSplitSharedIsHeardOf(t *testing.T) {
	w := world.Open(t, 2, strand.WithParam("btl", "tcp,self"))
	ctx := world.Context(t)
	split := func(ctx context.Context, c *strand.Comm) error {
		_, err := c.SplitShared(ctx, 0)
		return err
	}
	together(t, w, split)
	errs := each(comms(w), func(c *strand.Comm) error {
		if c.Rank() == 1 {
			return split(brief{ctx, new(atomic.Int32)}, c)
		}
		return split(ctx, c)
	})
	if errs[1] == nil {
		require.NoError(t, errs[0], "rank 1 has done its part")
	} else {
		require.ErrorIs(t, errs[0], strand.ErrOutOfStep)
	}
}

// The first call of a communicator may be one that goes on by itself, with others begun behind it: where the ranks
// are is found out once.
func TestFirstCallsAtOnce(t *testing.T) {
	w := world.Open(t, 3, strand.WithParam("btl", "tcp,self"))
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		sum := strand.Sum[int]()
		in, out := make([][]int, 5), make([][]int, 5)
		requests := make([]strand.Request, len(in))
		var err error
		for i := range in {
			in[i], out[i] = []int{i + c.Rank()}, make([]int, 1)
			if requests[i], err = strand.Iallreduce(c, sum, in[i], out[i]); err != nil {
				return err
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if err := strand.WaitAll(ctx, requests, nil); err != nil {
			return err
		}
		for i := range out {
			assert.Equal(t, 3*i+3, out[i][0])
		}
		return nil
	})
}
