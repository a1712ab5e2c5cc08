package members_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// Messages of different communicators never match, though all else is equal.
func TestDupSeparates(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		a := w.Comm()
		b, err := a.Dup(ctx)
		if err != nil {
			return err
		}
		assert.Equal(t, []int{a.Rank(), a.Size()}, []int{b.Rank(), b.Size()})
		next, prev := (a.Rank()+1)%3, (a.Rank()+2)%3
		var outs []strand.Request
		for i, c := range []*strand.Comm{a, b} {
			r, err := c.Isend([]byte{byte(i)}, next, 1)
			if err != nil {
				return err
			}
			outs = append(outs, r)
		}
		for _, i := range []int{1, 0} {
			c := []*strand.Comm{a, b}[i]
			buf := make([]byte, 1)
			st, err := c.Recv(ctx, buf, strand.AnySource, strand.AnyTag)
			if err != nil {
				return err
			}
			assert.Equal(t, []int{prev, i}, []int{st.Source, int(buf[0])})
		}
		if err := strand.WaitAll(ctx, outs, nil); err != nil {
			return err
		}
		return b.Free()
	})
}

// A peer whose Dup returns first sends into a communicator that this process
// does not know yet. (Without credit it waits in Dup.)
func TestMessagesForAContextNotKnownYet(t *testing.T) {
	for name, opts := range world.Settings {
		if strings.Contains(name, "credit") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := world.Open(t, 2, opts...)
			ctx := world.Context(t)
			a, b := w[0].Comm(), w[1].Comm()
			early, err := a.Dup(ctx) // rank 0 needs nobody's answer
			require.NoError(t, err)
			var outs []strand.Request
			for i, n := range world.Sizes {
				r, err := early.Isend(world.Pattern(n, i), 1, i)
				require.NoError(t, err)
				outs = append(outs, r)
			}
			// All of it has reached rank 1 before that calls Dup.
			sync, err := a.Isend(nil, 1, 9)
			require.NoError(t, err)
			_, err = b.Recv(ctx, nil, 0, 9)
			require.NoError(t, err)
			_, err = sync.Wait(ctx)
			require.NoError(t, err)

			late, err := b.Dup(ctx)
			require.NoError(t, err)
			for i, n := range world.Sizes {
				buf := make([]byte, n)
				_, err := late.Recv(ctx, buf, 0, i)
				require.NoError(t, err)
				world.Equal(t, world.Pattern(n, i), buf, "%d bytes", n)
			}
			require.NoError(t, strand.WaitAll(ctx, outs, nil))
		})
	}
}

// dupBoth duplicates a communicator in both of its processes.
func dupBoth(t testing.TB, a, b *strand.Comm) (dupA, dupB *strand.Comm) {
	t.Helper()
	ctx := world.Context(t)
	ended := make(chan error, 1)
	go func() {
		var err error
		dupA, err = a.Dup(ctx)
		ended <- err
	}()
	dupB, err := b.Dup(ctx)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	return dupA, dupB
}

// What arrives for a communicator that was freed is dropped: its senders
// complete, and their credit comes back.
func TestMessagesForAFreedContext(t *testing.T) {
	leak.Check(t)
	for name, opts := range world.Settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.OpenMore(t, 2, opts...)
			ctx := world.Context(t)
			a, b := w[0].Comm(), w[1].Comm()
			mine, theirs := dupBoth(t, a, b)
			send := func(sizes []int) []strand.Request {
				var outs []strand.Request
				for i, n := range sizes {
					r, err := mine.Isend(world.Pattern(n, i), 1, i)
					require.NoError(t, err)
					sync, err := mine.Issend(nil, 1, i)
					require.NoError(t, err)
					outs = append(outs, r, sync)
				}
				return outs
			}
			before := send(world.Sizes)
			_, err := theirs.Probe(ctx, 0, len(world.Sizes)-1)
			require.NoError(t, err)
			require.NoError(t, theirs.Free())
			require.NoError(t, strand.WaitAll(ctx, before, nil))
			unasked := slices.DeleteFunc(slices.Clone(world.Sizes), func(n int) bool { return n > 1<<16 })
			for range 40 { // more than any credit
				require.NoError(t, strand.WaitAll(ctx, send(unasked), nil))
			}
			// The world's own communicator is as it was.
			out, err := a.Isend([]byte("alive"), 1, 1)
			require.NoError(t, err)
			buf := make([]byte, 5)
			_, err = b.Recv(ctx, buf, 0, 1)
			require.NoError(t, err)
			_, err = out.Wait(ctx)
			require.NoError(t, err)
		})
	}
}

// A program may make and free communicators without end: nothing of them is kept.
func TestFreedCommunicatorsTakeNoMemory(t *testing.T) {
	w, ctx := world.Open(t, 1)[0], world.Context(t)
	makeAndFree := func(n int) {
		for range n {
			c, err := w.Comm().Dup(ctx)
			require.NoError(t, err)
			require.NoError(t, c.Free())
		}
	}
	makeAndFree(1000)
	before := heap()
	makeAndFree(need.Daily(20_000, 100_000)) // of fifty bytes each, and more, nothing is kept
	require.Less(t, heap(), before+1<<20, "bytes")
}

// Free ends receives and probes that wait, and nothing else.
func TestFreeEndsWhatWaits(t *testing.T) {
	w, ctx := world.Open(t, 1)[0], world.Context(t)
	c, err := w.Comm().Dup(ctx)
	require.NoError(t, err)
	other, err := w.Comm().Irecv(nil, 0, 1)
	require.NoError(t, err)
	ended := make(chan error, 3)
	go func() { _, err := c.Recv(ctx, nil, 0, 1); ended <- err }()
	go func() { _, err := c.Probe(ctx, 0, 1); ended <- err }()
	go func() { _, err := c.Mprobe(ctx, strand.AnySource, 1); ended <- err }()
	r, err := c.Irecv(nil, strand.AnySource, strand.AnyTag)
	require.NoError(t, err)
	require.NoError(t, c.Free())
	for range 3 {
		assert.ErrorIs(t, <-ended, strand.ErrFreed)
	}
	_, err = r.Wait(ctx)
	assert.ErrorIs(t, err, strand.ErrFreed)
	_, done, err := other.Test()
	require.NoError(t, err)
	assert.False(t, done)
	assert.True(t, other.Cancel())
	_, err = other.Wait(ctx)
	require.NoError(t, err)
}

// TestSplit makes every kind of group: consecutive, with gaps, backwards, one,
// none; and groups of groups.
func TestSplit(t *testing.T) {
	const n = 6
	for _, c := range []struct {
		name  string
		color func(rank int) int
		key   func(rank int) int
		want  [][]int // the groups, by world rank
	}{
		{"all", func(int) int { return 0 }, func(r int) int { return r }, [][]int{{0, 1, 2, 3, 4, 5}}},
		{"halves", func(r int) int { return r / 3 }, func(int) int { return 0 }, [][]int{{0, 1, 2}, {3, 4, 5}}},
		{"odd and even", func(r int) int { return r % 2 }, func(int) int { return 0 }, [][]int{{0, 2, 4}, {1, 3, 5}}},
		{"backwards", func(int) int { return 7 }, func(r int) int { return -r }, [][]int{{5, 4, 3, 2, 1, 0}}},
		{"each alone", func(r int) int { return r }, func(int) int { return 0 }, [][]int{{0}, {1}, {2}, {3}, {4}, {5}}},
		{"some in none", func(r int) int { return max(r-3, strand.Undefined) }, func(int) int { return 0 }, [][]int{{3}, {4}, {5}}},
		{"shuffled", func(r int) int { return (math.MaxInt/2 + 1) * (r % 2) }, func(r int) int { return (r*5 + 2) % 7 * (math.MaxInt / 8) }, [][]int{{4, 0, 2}, {1, 3, 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
				me := w.Rank()
				s, err := w.Comm().Split(ctx, c.color(me), c.key(me))
				if err != nil {
					return err
				}
				group, rank := groupOf(c.want, me)
				if group == nil {
					assert.Nil(t, s)
					return nil
				}
				assert.Equal(t, []int{rank, len(group)}, []int{s.Rank(), s.Size()})
				d, err := s.Dup(ctx)
				if err != nil {
					return err
				}
				for _, c := range []*strand.Comm{s, d} {
					if err := ringOf(ctx, c, group); err != nil {
						return err
					}
					if err := c.Barrier(ctx); err != nil {
						return err
					}
				}
				if err := d.Free(); err != nil {
					return err
				}
				return s.Free()
			})
		})
	}
}

func groupOf(groups [][]int, rankOfWorld int) (group []int, rank int) {
	for _, g := range groups {
		for rank, w := range g {
			if w == rankOfWorld {
				return g, rank
			}
		}
	}
	return nil, 0
}

// ringOf has every member of a group send its world rank to the next.
func ringOf(ctx context.Context, c *strand.Comm, group []int) error {
	n := len(group)
	next, prev := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	in := make([]int32, 1)
	r, err := strand.Irecv(c, in, strand.AnySource, 5)
	if err != nil {
		return err
	}
	if err := strand.Send(ctx, c, []int32{int32(c.World().Rank())}, next, 5); err != nil {
		return err
	}
	st, err := r.Wait(ctx)
	if err == nil && (st.Source != prev || int(in[0]) != group[prev]) {
		err = fmt.Errorf("heard of world rank %d from rank %d, not of %d from %d", in[0], st.Source, group[prev], prev)
	}
	return err
}

func TestSplitRefusesAColour(t *testing.T) {
	_, err := world.Open(t, 1)[0].Comm().Split(world.Context(t), -2, 0)
	assert.ErrorContains(t, err, "colour -2 is neither Undefined nor 0 or more")
}

// Nobody leaves a barrier before all have come.
func TestBarrier(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8} {
		var arrived atomic.Int64
		strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
			for round := range 30 {
				arrived.Add(1)
				if err := w.Comm().Barrier(ctx); err != nil {
					return err
				}
				if got := arrived.Load(); got < int64(n*(round+1)) {
					return fmt.Errorf("left barrier %d when %d of %d had come", round, got, n*(round+1))
				}
			}
			return nil
		})
	}
}

// A barrier whose context ends can be given up; its communicator's other
// messages are not harmed.
func TestBarrierGivenUp(t *testing.T) {
	w := world.Open(t, 2)
	ctx := world.Context(t)
	over, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w[0].Comm().Barrier(over) }()
	_, err := w[1].Comm().Irecv(nil, 0, 1)
	require.NoError(t, err)
	cancel()
	require.Equal(t, context.Canceled, <-ended)
	require.NoError(t, w[0].Comm().Send(ctx, nil, 1, 1))
}

// A barrier that is given up while it sends does not return ErrUnderway: what is under way is
// none of the caller's.
func TestBarrierGivenUpWhileItSends(t *testing.T) {
	for looks := range 4 {
		t.Run(fmt.Sprint(looks), func(t *testing.T) {
			w := world.Open(t, 2)
			over, cancel := context.WithCancel(world.Context(t))
			defer cancel()
			require.Equal(t, context.Canceled, w[0].Comm().Barrier(&seen{Context: over, looks: looks, cancel: cancel}))
		})
	}
}

// seen is a context that ends after it was looked at looks times, at the next look.
type seen struct {
	context.Context
	looks  int
	cancel func()
}

func (s *seen) Err() error {
	if s.looks--; s.looks < 0 {
		defer s.cancel()
	}
	return s.Context.Err()
}

// After a collective call that has ended early the others may still be in it: the
// communicator says so instead of meeting their old call with a new one. A context that
// has ended before the call does no harm, nor is any other communicator harmed.
func TestCollectivesAfterOneWasGivenUp(t *testing.T) {
	w, ctx := world.Open(t, 2), world.Context(t)
	both := func(call func(c *strand.Comm) error, on ...*strand.Comm) {
		t.Helper()
		errs := make(chan error, len(on))
		for _, c := range on {
			go func() { errs <- call(c) }()
		}
		for range on {
			require.NoError(t, <-errs)
		}
	}
	barrier := func(c *strand.Comm) error { return c.Barrier(ctx) }
	var dups [2]*strand.Comm
	both(func(c *strand.Comm) (err error) {
		dups[c.Rank()], err = c.Dup(ctx)
		return err
	}, w[0].Comm(), w[1].Comm())
	c := dups[0]

	over, cancel := context.WithCancel(ctx)
	ended, before := make(chan error, 1), w[1].Stats().Unexpected
	go func() { ended <- c.Barrier(over) }()
	for w[1].Stats().Unexpected == before { // rank 1 has not heard of it
		_, _, err := dups[1].Iprobe(0, 1)
		require.NoError(t, err)
		require.NoError(t, ctx.Err())
	}
	cancel()
	require.Equal(t, context.Canceled, <-ended)
	require.Equal(t, context.Canceled, w[0].Comm().Barrier(over))

	calls := map[string]func() error{
		"Barrier": func() error { return c.Barrier(ctx) },
		"Dup":     func() error { _, err := c.Dup(ctx); return err },
		"Split":   func() error { _, err := c.Split(ctx, 0, 0); return err },
	}
	for name, call := range calls {
		err := call()
		require.ErrorIs(t, err, strand.ErrOutOfStep)
		require.ErrorIs(t, err, context.Canceled, "why")
		require.ErrorContains(t, err, name+": ")
		require.ErrorContains(t, err, "Barrier has ended early on this rank (context canceled)")
	}
	require.NoError(t, c.Send(ctx, nil, 1, 1))
	_, err := dups[1].Recv(ctx, nil, 0, 1)
	require.NoError(t, err)
	both(barrier, w[0].Comm(), w[1].Comm())
	require.NoError(t, c.Free())
	require.ErrorIs(t, c.Barrier(ctx), strand.ErrFreed)
}

// Two goroutines in collective calls on one communicator: the second is told so, the first
// goes on.
func TestConcurrentCollectives(t *testing.T) {
	w, ctx := world.Open(t, 2), world.Context(t)
	c, errs := w[0].Comm(), make(chan error, 2)
	go func() { errs <- c.Barrier(ctx) }()
	go func() { errs <- c.Barrier(ctx) }()
	err := <-errs // neither can end well before rank 1 has come
	require.ErrorIs(t, err, strand.ErrConcurrent)
	require.ErrorContains(t, err, "another goroutine is in Barrier")
	require.NoError(t, w[1].Comm().Barrier(ctx))
	require.NoError(t, <-errs)
	go func() { errs <- w[1].Comm().Barrier(ctx) }()
	require.NoError(t, c.Barrier(ctx))
	require.NoError(t, <-errs)
}

// Many communicators, made and freed over and over, are told apart.
func TestDupAndFreeOverAndOver(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for i := range 100 {
			d, err := c.Dup(ctx)
			if err != nil {
				return err
			}
			if err := ringOf(ctx, d, []int{0, 1, 2}); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
			if i%2 == 0 {
				if err := d.Free(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
