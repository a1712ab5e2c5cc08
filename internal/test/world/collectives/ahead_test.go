package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// giveUp makes a call whose context ends while it is under way.
func giveUp(ctx context.Context, t *testing.T, call func(context.Context) error) {
	t.Helper()
	under, cancel := context.WithCancel(ctx)
	over := watched{under, make(chan struct{}), new(sync.Once)}
	left := make(chan error, 1)
	go func() { left <- call(over) }()
	<-over.waits
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
}

func agree(c *strand.Comm) func(context.Context) error {
	return func(ctx context.Context) error { _, err := c.Agree(ctx, 1); return err }
}

// A rank that gives agreements up is ahead of the others by as many. They have its flags, and its next one is theirs.
func TestWhoGivesAgreementsUpIsAhead(t *testing.T) {
	for who := range 3 {
		w := world.Open(t, 3)
		ctx := world.Context(t)
		const ahead = 5
		for range ahead {
			giveUp(ctx, t, agree(w[who].Comm()))
		}
		for _, err := range each(comms(w), func(c *strand.Comm) error {
			for i := range ahead + 1 {
				if i < ahead && c.Rank() == who {
					continue
				}
				if _, err := c.Agree(ctx, 1); err != nil {
					return err
				}
			}
			return nil
		}) {
			require.NoError(t, err)
		}
	}
}

// There is a bound to that. What is refused has not begun.
func TestAgreementsGivenUpAreBounded(t *testing.T) {
	w := world.Open(t, 2)
	ctx := world.Context(t)
	const most = 16
	for range most {
		giveUp(ctx, t, agree(w[0].Comm()))
	}
	_, err := w[0].Comm().Agree(ctx, 1)
	require.ErrorContains(t, err, "given up")
	for range most {
		require.NoError(t, agree(w[1].Comm())(ctx))
	}
	for _, err := range each(comms(w), func(c *strand.Comm) error { return agree(c)(ctx) }) {
		require.NoError(t, err)
	}
}

// Who frees a communicator takes part in no agreement there, whether others have asked for it before or ask after.
func TestWhoFreesIsNotWaitedFor(t *testing.T) {
	w := world.Open(t, 2)
	ctx := world.Context(t)
	made := make([]*strand.Comm, 2)
	for _, err := range each(comms(w), func(c *strand.Comm) (err error) { made[c.Rank()], err = c.Dup(ctx); return err }) {
		require.NoError(t, err)
	}
	asks, ended := watched{ctx, make(chan struct{}), new(sync.Once)}, make(chan error, 1)
	go func() { ended <- agree(made[0])(asks) }()
	<-asks.waits
	for _, err := range each(comms(w), func(c *strand.Comm) error { return agree(c)(ctx) }) {
		require.NoError(t, err, "what rank 0 has asked before has arrived")
	}
	require.NoError(t, made[1].Free())
	for _, err := range []error{<-ended, agree(made[0])(ctx)} {
		require.ErrorIs(t, err, strand.ErrPeerFailed)
		require.ErrorContains(t, err, "it has freed the communicator")
	}
}

// Who frees a communicator of which it has made another one hears yet who is missing in that one.
func TestWhoFreesTheParentHearsWhoIsMissing(t *testing.T) {
	w := world.Open(t, 4)
	ctx := world.Context(t)
	parent := make([]*strand.Comm, 4)
	for _, err := range each(comms(w), func(c *strand.Comm) (err error) { parent[c.Rank()], err = c.Dup(ctx); return err }) {
		require.NoError(t, err)
	}
	made := make([]*strand.Comm, 2)
	for rank := range made { // they need no other rank; rank 3 waits for rank 2
		var err error
		made[rank], err = parent[rank].Dup(ctx)
		require.NoError(t, err)
		require.NoError(t, parent[rank].Free())
	}
	giveUp(ctx, t, func(ctx context.Context) error { return dup(ctx, parent[3]) })
	for _, c := range made {
		require.ErrorIs(t, c.Barrier(ctx), strand.ErrOutOfStep)
		require.NoError(t, c.Free())
	}
}

// Who has given Shrink up and frees the communicator is missed in what the others make.
func TestWhoGivesShrinkUpAndFreesIsMissed(t *testing.T) {
	w := world.Open(t, 3)
	ctx := world.Context(t)
	parent := make([]*strand.Comm, 3)
	for _, err := range each(comms(w), func(c *strand.Comm) (err error) { parent[c.Rank()], err = c.Dup(ctx); return err }) {
		require.NoError(t, err)
	}
	giveUp(ctx, t, func(ctx context.Context) error { _, err := parent[1].Shrink(ctx); return err })
	require.NoError(t, parent[1].Free())
	for _, err := range each([]*strand.Comm{parent[0], parent[2]}, func(c *strand.Comm) error {
		d, err := c.Shrink(ctx)
		require.NoError(t, err)
		return d.Barrier(ctx)
	}) {
		if err != nil { // or all knew in time, and it is no member
			require.ErrorIs(t, err, strand.ErrOutOfStep)
		}
	}
}

// Whether a context ends before an agreement or within it the caller can not tell: its call counts all the same, and nobody waits for another one.
func TestAgreementWithAnEndedContextCounts(t *testing.T) {
	w := world.Open(t, 2)
	ctx := world.Context(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := w[0].Comm().Agree(ended, 5)
	require.ErrorIs(t, err, context.Canceled)
	flags, err := w[1].Comm().Agree(ctx, 6)
	require.NoError(t, err)
	require.Equal(t, uint64(4), flags)

	_, err = w[0].Comm().Shrink(ended)
	require.ErrorIs(t, err, context.Canceled)
	made, err := w[1].Comm().Shrink(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, made.Barrier(ctx), strand.ErrOutOfStep, "rank 0 has not made it")
	for _, err := range each(comms(w), func(c *strand.Comm) error { return agree(c)(ctx) }) {
		require.NoError(t, err)
	}
}

// A program may poll for the end of a call that goes on by itself, again and again, in an Iallreduce for example: it ends, however polls and
// the call's own waits fall together.
func TestCallsThatArePolledEnd(t *testing.T) {
	for _, n := range []int{2, 3} {
		w := world.Open(t, n)
		together(t, w, func(ctx context.Context, c *strand.Comm) error {
			in, out := []int64{1, 2, 3}, make([]int64, 3)
			for range 300 {
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				r, err := strand.Iallreduce(c, strand.Sum[int64](), in, out)
				for done := false; !done && err == nil; {
					if _, done, err = r.Test(); err == nil {
						err = ctx.Err()
					}
				}
				if err != nil {
					return err
				}
				if want := []int64{int64(n), int64(2 * n), int64(3 * n)}; !slices.Equal(want, out) {
					return fmt.Errorf("%v is not %v", out, want)
				}
			}
			return nil
		})
	}
}

// BenchmarkCallsThatGoOn shows what a short call takes that goes on by itself, waited for and polled for, beside the blocking one.
func BenchmarkCallsThatGoOn(b *testing.B) {
	in := make([]int64, 128)
	for name, call := range map[string]func(ctx context.Context, c *strand.Comm, out []int64) error{
		"blocking": func(ctx context.Context, c *strand.Comm, out []int64) error {
			return strand.Allreduce(ctx, c, strand.Sum[int64](), in, out)
		},
		"waited for": func(ctx context.Context, c *strand.Comm, out []int64) error {
			r, err := strand.Iallreduce(c, strand.Sum[int64](), in, out)
			if err == nil {
				_, err = r.Wait(ctx)
			}
			return err
		},
		"polled for": func(_ context.Context, c *strand.Comm, out []int64) error {
			r, err := strand.Iallreduce(c, strand.Sum[int64](), in, out)
			for done := false; !done && err == nil; {
				_, done, err = r.Test()
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := world.Open(b, 2)
			errs := each(comms(w), func(c *strand.Comm) error {
				out := make([]int64, len(in))
				for range b.N {
					if err := call(b.Context(), c, out); err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(b, errors.Join(errs...))
		})
	}
}
