package members_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// Only members call Create, and several overlapping groups may be made one after the other.
func TestCreate(t *testing.T) {
	strandtest.Run(t, 5, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for _, group := range [][]int{{3, 1}, {0, 2, 4}, {1, 0}, {4, 3, 2, 1, 0}, {2}} {
			if !slices.Contains(group, c.Rank()) {
				continue
			}
			d, err := c.Create(ctx, group)
			if err != nil {
				return err
			}
			assert.Equal(t, group[d.Rank()], c.Rank())
			sum := []int{0}
			if err := strand.Allreduce(ctx, d, strand.Sum[int](), []int{c.Rank()}, sum); err != nil {
				return err
			}
			want := 0
			for _, r := range group {
				want += r
			}
			assert.Equal(t, []int{want}, sum)
			if err := d.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestCreateRefuses(t *testing.T) {
	c := world.Open(t, 2)[0].Comm()
	ctx := world.Context(t)
	for why, group := range map[string][]int{"in a communicator of 2": {0, 2}, "listed twice": {0, 1, 0}, "only members call": {1}} {
		_, err := c.Create(ctx, group)
		require.ErrorContains(t, err, why)
	}
	_, err := c.Create(ctx, nil)
	require.ErrorContains(t, err, "only members call")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = c.Create(ended, []int{0, 1})
	require.ErrorIs(t, err, context.Canceled)
	d, err := c.Create(ctx, []int{0})
	require.NoError(t, err)
	require.NoError(t, d.Free())
	_, err = d.Create(ctx, []int{0})
	require.ErrorIs(t, err, strand.ErrFreed)
}

// Members that list different ranks all get an error, and the next call is in step again.
func TestCreateDifferently(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		group := []int{0, 1, 2}
		if c.Rank() == 2 {
			group = []int{0, 2, 1}
		}
		_, err := c.Create(ctx, group)
		assert.ErrorContains(t, err, "ranks 0 and 2 list different ranks: [0 1 2] and [0 2 1]")
		d, err := c.Create(ctx, []int{2, 0, 1})
		if err != nil {
			return err
		}
		return d.Barrier(ctx)
	})
}

// Members that each list themselves first list different ranks, and hear so.
func TestCreateByWhoListsItselfFirst(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		_, err := c.Create(ctx, [][]int{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}}[c.Rank()])
		assert.ErrorContains(t, err, "ranks 0 and 1 list different ranks: [0 1 2] and [1 0 2]")
		return nil
	})
}

// asked is a context that tells when somebody begins to wait for its end.
type asked struct {
	context.Context
	once  sync.Once
	begun chan struct{}
}

func (a *asked) Done() <-chan struct{} {
	a.once.Do(func() { close(a.begun) })
	return a.Context.Done()
}

// If a member gives up, what the others make takes no collective call; the next one does.
func TestCreateGivenUp(t *testing.T) {
	for quitter := range 2 {
		worlds := world.Open(t, 2)
		ctx, group := world.Context(t), []int{0, 1}
		impatient, cancel := context.WithCancel(ctx)
		waits := &asked{Context: impatient, begun: make(chan struct{})}
		gone := make(chan error)
		go func() {
			_, err := worlds[quitter].Comm().Create(waits, group)
			gone <- err
		}()
		<-waits.begun
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		d, err := worlds[1-quitter].Comm().Create(ctx, group)
		require.NoError(t, err)
		require.ErrorIs(t, d.Barrier(ctx), strand.ErrOutOfStep)

		errs := make(chan error)
		for _, w := range worlds {
			go func() {
				d, err := w.Comm().Create(ctx, group)
				if err == nil {
					err = d.Barrier(ctx)
				}
				errs <- err
			}()
		}
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
		world.Close(t, worlds...)
	}
}

// A call whose context has ended before it counts all the same: the others do not wait for another one.
func TestCreateWithAnEndedContextCounts(t *testing.T) {
	for quitter := range 2 {
		worlds := world.Open(t, 2)
		ctx, group := world.Context(t), []int{0, 1}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := worlds[quitter].Comm().Create(ended, group)
		require.ErrorIs(t, err, context.Canceled)
		d, err := worlds[1-quitter].Comm().Create(ctx, group)
		require.NoError(t, err)
		require.ErrorIs(t, d.Barrier(ctx), strand.ErrOutOfStep)
		world.Close(t, worlds...)
	}
}

// A member that leaves the world before it has called ends the call of the others.
func TestCreateWithoutAMember(t *testing.T) {
	worlds := world.Open(t, 3)
	errs := make(chan error)
	for _, w := range worlds[:2] {
		go func() {
			_, err := w.Comm().Create(world.Context(t), []int{0, 1, 2})
			errs <- err
		}()
	}
	require.NoError(t, worlds[2].Close())
	for range 2 {
		require.ErrorContains(t, <-errs, "Create: ")
	}
}

// Who leads and knows that a member has failed says so to the others, who wait for its answer.
func TestCreateWithAMemberThatIsKnownToHaveFailed(t *testing.T) {
	const n, victim = 3, 2
	leak.Check(t)
	var wg sync.WaitGroup
	for rank, j := range world.ToldJobs(n) {
		wg.Go(func() {
			err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
				c := w.Comm()
				if rank == victim {
					return errors.New("gave up")
				}
				_, err := c.Recv(ctx, nil, victim, 1)
				assert.ErrorIs(t, err, strand.ErrPeerFailed)
				_, err = c.Create(ctx, []int{0, 1, victim})
				assert.ErrorContains(t, err, "gave up")
				if rank == 1 {
					return c.Send(ctx, nil, 0, 2)
				}
				_, err = c.Recv(ctx, nil, 1, 2) // it stays until the other one has its answer
				return err
			}, strand.WithJob(j), world.FromEnvironment())
			if rank != victim {
				assert.NoError(t, err, "rank %d", rank)
			}
		})
	}
	wg.Wait()
}

// All members hear who has failed, not the one who leads alone: by the error's type, with its number in the communicator and in the world.
func TestCreateNamesWhoHasFailed(t *testing.T) {
	const n, victim, as = 3, 2, 1 // its rank in the communicator
	leak.Check(t)
	var wg sync.WaitGroup
	for rank, j := range world.ToldJobs(n) {
		wg.Go(func() {
			err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
				c, err := w.Comm().Split(ctx, 0, 2*w.Rank()%n)
				if err != nil {
					return err
				}
				if w.Rank() == victim {
					return errors.New("gave up")
				}
				_, err = c.Create(ctx, []int{2, 1, 0})
				failed, is := errors.AsType[*strand.PeerFailedError](err)
				if assert.True(t, is, "%v", err) {
					assert.Equal(t, []int{as, victim}, []int{failed.Rank, failed.WorldRank})
					assert.ErrorContains(t, err, "gave up")
				}
				return nil
			}, strand.WithJob(j), world.FromEnvironment())
			if rank != victim {
				assert.NoError(t, err, "rank %d", rank)
			}
		})
	}
	wg.Wait()
}
