package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

func add(a, b int64) int64 { return a + b }
func mul(a, b int64) int64 { return a * b }

// A mistake is what rank 1 does where the others do what is right.
type mistake struct {
	name         string
	right, wrong func(context.Context, *strand.Comm) error
	texts        []string // of the calls, as the error names them
}

var in8, in9 = make([]int64, 8), make([]int64, 9)

var mistakes = []mistake{
	{"another call", barrier, func(ctx context.Context, c *strand.Comm) error { return c.Bcast(ctx, nil, 0) }, []string{"Barrier", "Bcast with root 0, 0 bytes"}},
	{"another order", func(ctx context.Context, c *strand.Comm) error { return first(barrier(ctx, c), dup(ctx, c)) },
		func(ctx context.Context, c *strand.Comm) error { return first(dup(ctx, c), barrier(ctx, c)) }, []string{"Barrier, ", "Dup, "}},
	{"another root", bcast(8, 0), bcast(8, 1), []string{"root 0", "root 1"}},
	{"another length", bcast(8, 0), bcast(9, 0), []string{"8 bytes", "9 bytes"}},
	{"another operation", allreduce(strand.Sum[int64](), in8), allreduce(strand.Max[int64](), in8), []string{"by Sum", "by Max"}},
	{"another operation of its own", allreduce(strand.NewOp(add, true), in8), allreduce(strand.NewOp(mul, true), in8), []string{"_test.add", "_test.mul"}},
	{"another type", allreduce(strand.Sum[int64](), in8), allreduce(strand.Sum[float64](), make([]float64, 8)), []string{"int64", "float64"}},
	{"another number of values", allreduce(strand.Sum[int64](), in8), allreduce(strand.Sum[int64](), in9), []string{"64 bytes", "72 bytes"}},
	{"other counts", scattering(3, 3, 3), scattering(2, 4, 3), []string{"lengths 24 24 24", "lengths 16 32 24"}},
	{"one too many", func(ctx context.Context, c *strand.Comm) error { return first(bcast(8, 0)(ctx, c), barrier(ctx, c)) },
		func(ctx context.Context, c *strand.Comm) error {
			return first(bcast(8, 0)(ctx, c), bcast(8, 0)(ctx, c))
		}, []string{"Barrier", "Bcast"}},
	{"another ordering", dup, func(ctx context.Context, c *strand.Comm) error { _, err := c.DupWith(ctx, strand.Relaxed); return err }, []string{"ordering 0", "ordering 1"}},
	{"one by itself", barrier, func(ctx context.Context, c *strand.Comm) error { return waited(ctx)(c.Ibarrier()) }, []string{"Barrier, 0 bytes", "Barrier, 0 bytes, going on by itself"}},
	{"an operation that commutes", allreduce(strand.NewOp(add, true), in8), allreduce(strand.NewOp(add, false), in8), []string{"_test.add of", "_test.add in the order of ranks"}},
	{"in the background", func(ctx context.Context, c *strand.Comm) error { return waited(ctx)(c.Ibarrier()) },
		func(ctx context.Context, c *strand.Comm) error { return waited(ctx)(c.Ibcast(make([]byte, 3), 2)) }, []string{"Barrier", "Bcast with root 2, 3 bytes"}},
}

func barrier(ctx context.Context, c *strand.Comm) error { return c.Barrier(ctx) }

func dup(ctx context.Context, c *strand.Comm) error {
	_, err := c.Dup(ctx)
	return err
}

func bcast(n, root int) func(context.Context, *strand.Comm) error {
	return func(ctx context.Context, c *strand.Comm) error { return c.Bcast(ctx, make([]byte, n), root) }
}

func allreduce[T any](op strand.Op[T], in []T) func(context.Context, *strand.Comm) error {
	return func(ctx context.Context, c *strand.Comm) error {
		return strand.Allreduce(ctx, c, op, in, make([]T, len(in)))
	}
}

func scattering(counts ...int) func(context.Context, *strand.Comm) error {
	return func(ctx context.Context, c *strand.Comm) error {
		return strand.ReduceScatter(ctx, c, strand.Sum[int64](), in9, make([]int64, counts[c.Rank()]), counts)
	}
}

func waited(ctx context.Context) func(strand.Request, error) error {
	return func(r strand.Request, err error) error {
		if err == nil {
			_, err = r.Wait(ctx)
		}
		return err
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// With coll_check calls that do not fit are found, whatever they are, and the error names both, everywhere.
func TestCallsThatDoNotFit(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			w := world.Open(t, 3, strand.WithParam("coll_check", "on"))
			ctx := world.Context(t)
			for rank, err := range each(comms(w), func(c *strand.Comm) error {
				if c.Rank() == 1 {
					return m.wrong(ctx, c)
				}
				return m.right(ctx, c)
			}) {
				if err == nil { // it had done its part before the others found the mistake
					err = w[rank].Comm().Barrier(ctx)
				}
				require.ErrorContains(t, err, "collective calls that do not fit", "rank %d", rank)
				assert.ErrorContains(t, err, "rank 1 ")
				for _, text := range m.texts {
					assert.ErrorContains(t, err, text, "rank %d", rank)
				}
			}
			goOn(ctx, t, w)
		})
	}
}

// Without it those that change lengths are found where a message tells.
func TestLengthsAreComparedForNothing(t *testing.T) {
	for _, calls := range [][2]func(context.Context, *strand.Comm) error{
		{bcast(8, 0), bcast(9, 0)}, {bcast(9, 0), bcast(8, 0)}, {bcast(8, 0), barrier}, {bcast(8, 0), bcast(0, 0)},
		{allreduce(strand.Sum[int64](), in8), allreduce(strand.Sum[int64](), in9)},
	} {
		w := world.Open(t, 2)
		ctx := world.Context(t)
		errs := each(comms(w), func(c *strand.Comm) error { return calls[c.Rank()](ctx, c) })
		err := errs[1]
		if err == nil {
			err = errs[0]
		}
		assert.ErrorContains(t, err, "are due on rank")
	}
}

// Calls that fit are the same with the check: blocking ones, those that go on by themselves, on communicators of their own.
func TestCheckedCallsThatFit(t *testing.T) {
	w := world.Open(t, 4, strand.WithParam("coll_check", "on"))
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		d, err := c.Split(ctx, c.Rank()%2, 0)
		if err != nil {
			return err
		}
		for i := range 20 {
			got := make([]int64, 8)
			r, err := strand.Iallreduce(c, strand.Sum[int64](), []int64{1, 2, 3, 4, 5, 6, 7, int64(i)}, got)
			if err != nil {
				return err
			}
			if err := strand.Bcast(ctx, d, got[:0], i%2); err != nil {
				return fmt.Errorf("bcast %d: %w", i, err)
			}
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
			assert.EqualValues(t, 4*i, got[7])
		}
		return d.Free()
	})
}
