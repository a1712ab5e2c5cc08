// Package collectives_test holds the collective calls of the public interface, over real transports.
// What they send to whom is tested in package coll.
package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// making is the call in which ranks of one host are given memory in common.
const making = 128

// over are the transports between ranks.
func over() []string {
	list := []string{"tcp,self", "udp,self"}
	if runtime.GOOS == "linux" {
		list = append(list, "sm,self")
	}
	return list
}

// together has all ranks make calls, each on a goroutine of its own.
func together(t *testing.T, w []*strand.World, call func(ctx context.Context, c *strand.Comm) error) {
	t.Helper()
	ctx, errs := world.Context(t), make([]error, len(w))
	var calls sync.WaitGroup
	for i, one := range w {
		calls.Go(func() { errs[i] = call(ctx, one.Comm()) })
	}
	calls.Wait()
	require.NoError(t, errors.Join(errs...))
}

// of is what a rank gives: values that say whose they are.
func of(rank, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(rank*1000 + i)
	}
	return values
}

// joined is what all ranks give, behind each other.
func joined(ranks, n int) []int64 {
	all := make([]int64, 0, ranks*n)
	for r := range ranks {
		all = append(all, of(r, n)...)
	}
	return all
}

// sums are those of what ranks 0 to last give.
func sums(last, n int) []int64 {
	all := make([]int64, n)
	for r := range last + 1 {
		for i, v := range of(r, n) {
			all[i] += v
		}
	}
	return all
}

func TestCollectives(t *testing.T) {
	sum, first := strand.Sum[int64](), strand.NewOp(func(a, _ int64) int64 { return a }, false)
	for _, list := range over() {
		for _, n := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s, %d ranks", list, n), func(t *testing.T) {
				w := world.Open(t, n, strand.WithParam("btl", list))
				for _, length := range []int{0, 1, 700, need.Times(20_000, 200_000)} {
					root := n / 2
					together(t, w, func(ctx context.Context, c *strand.Comm) error {
						own, got, whole := of(c.Rank(), length), make([]int64, length), make([]int64, n*length)
						steps := []struct {
							call func() error
							want []int64
							got  []int64
							only int // the rank that gets it; -1: all
						}{
							{func() error { copy(got, own); return strand.Bcast(ctx, c, got, root) }, of(root, length), got, -1},
							{func() error { return strand.Reduce(ctx, c, sum, own, got, root) }, sums(n-1, length), got, root},
							{func() error { return strand.Allreduce(ctx, c, sum, own, got) }, sums(n-1, length), got, -1},
							{func() error { return strand.Allreduce(ctx, c, first, own, got) }, of(0, length), got, -1},
							{func() error { return strand.Scan(ctx, c, sum, own, got) }, sums(c.Rank(), length), got, -1},
							{func() error { clear(got); return strand.Exscan(ctx, c, sum, own, got) }, sums(c.Rank()-1, length), got, -1},
							{func() error { return strand.Gather(ctx, c, own, whole, root) }, joined(n, length), whole, root},
							{func() error { clear(whole); return strand.Allgather(ctx, c, own, whole) }, joined(n, length), whole, -1},
							{func() error { return strand.Scatter(ctx, c, whole, got, root) }, own, got, -1},
							{func() error { return strand.ReduceScatterBlock(ctx, c, first, joined(n, length), got) }, own, got, -1},
						}
						for i, s := range steps {
							if err := s.call(); err != nil {
								return fmt.Errorf("step %d: %w", i, err)
							}
							if s.only < 0 || s.only == c.Rank() {
								assert.Equal(t, s.want, s.got, "step %d, rank %d, %d values", i, c.Rank(), length)
							}
						}
						out := make([]int64, n*length)
						if err := strand.Alltoall(ctx, c, whole, out); err != nil {
							return err
						}
						for r := range n {
							assert.Equal(t, own, out[r*length:(r+1)*length])
						}
						return c.Barrier(ctx)
					})
				}
			})
		}
	}
}

// Each algorithm that has a name can be had by it, and gives the same. How many messages there are shows which one it was.
func TestAlgorithmsByParameter(t *testing.T) {
	const n = 5 // of which 4 are a power of two: one more gives its part to another one, and gets the result
	for name, messages := range map[string]uint64{
		"doubling": 1 + 4*2 + 1, "rabenseifner": 1 + 4*(2+2) + 1, "ring": n * 2 * (n - 1), "tree": 2 * (n - 1),
	} {
		w := world.Open(t, n, strand.WithParam("btl", "tcp,self"), strand.WithParam("coll_allreduce", name))
		reduce := func(ctx context.Context, c *strand.Comm) error {
			got := make([]int64, 999)
			err := strand.Allreduce(ctx, c, strand.Sum[int64](), of(c.Rank(), 999), got)
			assert.Equal(t, sums(n-1, 999), got)
			return err
		}
		together(t, w, reduce) // the first call finds out where the ranks are
		before := sent(w)
		together(t, w, reduce)
		assert.Equal(t, messages, sent(w)-before, name)
	}
}

// sent is how many messages ranks have sent to each other.
func sent(w []*strand.World) (messages uint64) {
	for _, one := range w {
		for _, r := range one.Rails() {
			messages += r.Traffic.Sent
		}
	}
	return messages
}

// Several calls go on by themselves, and may be waited for in any order, with others between.
func TestCallsThatGoOnByThemselves(t *testing.T) {
	w := world.Open(t, 4, strand.WithParam("btl", "tcp,self"))
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		const calls, length = 8, 5000
		var requests []strand.Request
		got := make([][]int64, calls)
		for i := range got {
			got[i] = make([]int64, length)
			r, err := strand.Iallreduce(c, strand.Sum[int64](), of(c.Rank()+i, length), got[i])
			if err != nil {
				return err
			}
			requests = append(requests, r)
			if i == calls/2 {
				if err := c.Barrier(ctx); err != nil {
					return err
				}
			}
		}
		if c.Rank()%2 == 1 {
			for i := range requests {
				if _, err := requests[calls-1-i].Wait(ctx); err != nil {
					return err
				}
			}
		} else if err := strand.WaitAll(ctx, requests, nil); err != nil {
			return err
		}
		for i := range got {
			want := make([]int64, length)
			for r := range 4 {
				for j, v := range of(r+i, length) {
					want[j] += v
				}
			}
			assert.Equal(t, want, got[i])
		}
		return nil
	})
}

func TestMistakesInCollectiveCalls(t *testing.T) {
	w := world.Open(t, 2)
	ctx, c := world.Context(t), w[0].Comm()
	for want, call := range map[string]func() error{
		"Bcast: bad rank: root 2 is not in 0 to 1":                  func() error { return c.Bcast(ctx, nil, 2) },
		"Ibcast: bad rank: root -1 is not in":                       func() error { _, err := c.Ibcast(nil, -1); return err },
		"Gather: the root's buffer has 3 bytes: want 4":             func() error { return c.Gather(ctx, make([]byte, 2), make([]byte, 3), 0) },
		"Allgather: out has 3 bytes: want 4, for 2 ranks of 2 each": func() error { return c.Allgather(ctx, make([]byte, 2), make([]byte, 3)) },
		"Alltoall: in has 3 bytes and out 3: want the same number":  func() error { return c.Alltoall(ctx, make([]byte, 3), make([]byte, 3)) },
		"Alltoall: in has 3 values of 4 bytes and out 3: want the same number, and for each of 2 ranks as many": func() error {
			return strand.Alltoall(ctx, c, make([]int32, 3), make([]int32, 3)) // 6 bytes for each rank
		},
		"Ialltoall: in has 3 values of 8 bytes": func() error {
			_, err := strand.Ialltoall(c, make([]float64, 3), make([]float64, 3))
			return err
		},
		"Gatherv: 1 pieces: want one for each of 2 ranks": func() error { return c.Gatherv(ctx, nil, make([][]byte, 1), 0) },
		"Allreduce: the operation is the zero Op":         func() error { return strand.Allreduce(ctx, c, strand.Op[int]{}, nil, nil) },
		"Allreduce: in has 1 values and out 2":            func() error { return strand.Allreduce(ctx, c, strand.Sum[int](), make([]int, 1), make([]int, 2)) },
		"values of type *int can not be sent":             func() error { return strand.Bcast(ctx, c, []*int{nil}, 0) },
		"ReduceScatter: 1 counts for 2 values": func() error {
			return strand.ReduceScatter(ctx, c, strand.Sum[int](), make([]int, 2), make([]int, 1), []int{2})
		},
	} {
		assert.ErrorContains(t, call(), want)
	}
	assert.ErrorIs(t, c.Bcast(ctx, nil, 2), strand.ErrRank)
	var none *strand.Comm
	assert.ErrorIs(t, none.Bcast(ctx, nil, 0), strand.ErrNilComm)
}

// What is made by way of Split names the call that the program has made.
func TestMisfitInAGrid(t *testing.T) {
	w := world.Open(t, 2)
	errs := each(comms(w), func(c *strand.Comm) error {
		if c.Rank() == 1 {
			return c.Gather(world.Context(t), make([]byte, 8), nil, 0)
		}
		_, err := c.Cart(world.Context(t), []int{2}, []bool{true})
		return err
	})
	assert.ErrorContains(t, errs[0], "Cart: rank 1 has sent 8 bytes where 16 are due on rank 0")
}

// What comes in place of an answer of Split, of another call, makes no communicator of ranks that are none.
func TestAnotherCallInPlaceOfSplit(t *testing.T) {
	w := world.Open(t, 2)
	errs := each(comms(w), func(c *strand.Comm) error {
		if c.Rank() == 0 {
			return strand.Bcast(world.Context(t), c, []uint64{77, 5, 9}, 0)
		}
		_, err := c.Split(world.Context(t), 0, 0)
		return err
	})
	require.NoError(t, errs[0])
	assert.ErrorContains(t, errs[1], "Split: rank 0 has made another call")
}

// Counts that are as many as in has only since their sum has come round are refused.
func TestCountsBeyondAnInt(t *testing.T) {
	w := world.Open(t, 3)
	counts := []int{math.MaxInt, math.MaxInt, 2} // 0, as an int
	err := strand.ReduceScatter(world.Context(t), w[2].Comm(), strand.Sum[int](), nil, make([]int, 2), counts)
	assert.ErrorContains(t, err, "ReduceScatter: 3 counts for 0 values")
}

// Values may have no bytes: of such a call only that all have made it is left.
func TestValuesWithoutBytes(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		type nothing struct{}
		c, op := w.Comm(), strand.NewOp(func(a, _ nothing) nothing { return a }, true)
		one, three := make([]nothing, 1), make([]nothing, 3)
		return errors.Join(
			strand.Bcast(ctx, c, one, 1), strand.Allreduce(ctx, c, op, one, one), strand.Reduce(ctx, c, op, one, one, 2), strand.Scan(ctx, c, op, one, one),
			strand.Allgather(ctx, c, one, three), strand.Alltoall(ctx, c, three, three), strand.Gather(ctx, c, one, three, 0),
			strand.Scatter(ctx, c, three, one, 0), strand.ReduceScatterBlock(ctx, c, op, three, one), strand.ReduceScatter(ctx, c, op, three, one, []int{1, 1, 1}))
	})
}

// Lengths that do not fit are found by who receives, and the communicator then says so.
func TestLengthsThatDoNotFit(t *testing.T) {
	w := world.Open(t, 2)
	ctx := world.Context(t)
	done := make(chan error, 1)
	go func() { done <- w[0].Comm().Bcast(ctx, make([]byte, 10), 0) }()
	err := w[1].Comm().Bcast(ctx, make([]byte, 20), 0)
	require.NoError(t, <-done)
	require.ErrorContains(t, err, "rank 0 has sent 10 bytes where 20 are due")
	assert.ErrorIs(t, w[1].Comm().Barrier(ctx), strand.ErrOutOfStep)
}

// A call whose context ends while it is under way returns, and the communicator says why it takes no other.
func TestCollectiveCallIsGivenUp(t *testing.T) {
	w := world.Open(t, 2)
	ctx, cancel := context.WithCancel(world.Context(t))
	ended := make(chan error, 1)
	go func() { ended <- strand.Allreduce(ctx, w[0].Comm(), strand.Sum[int](), make([]int, 4), make([]int, 4)) }()
	awaitUnexpected(t, w[1])
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	err := w[0].Comm().Barrier(world.Context(t))
	require.ErrorIs(t, err, strand.ErrOutOfStep)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "Barrier: ")
	require.ErrorContains(t, err, "Allreduce has ended early on this rank")
}

// awaitUnexpected waits until a rank has a message that it has no receive for.
func awaitUnexpected(t *testing.T, w *strand.World) {
	t.Helper()
	ctx := world.Context(t)
	for w.Stats().Unexpected == 0 {
		_, _, err := w.Comm().Iprobe(strand.AnySource, 1)
		require.NoError(t, err)
		require.NoError(t, ctx.Err())
		runtime.Gosched()
	}
}

// A call that goes on by itself ends with the world, on both sides of it.
func TestWorldIsClosedDuringACollectiveCall(t *testing.T) {
	w := world.Open(t, 2)
	own, err := w[0].Comm().Ibarrier()
	require.NoError(t, err)
	awaitUnexpected(t, w[1])
	require.NoError(t, w[0].Close())
	_, err = own.Wait(world.Context(t))
	require.ErrorIs(t, err, strand.ErrClosed)
	require.ErrorIs(t, w[1].Comm().Barrier(world.Context(t)), strand.ErrPeerClosed)
}

// Who frees a communicator ends the collective call that is under way in it.
func TestCommunicatorIsFreedDuringACollectiveCall(t *testing.T) {
	w := world.Open(t, 2)
	var dups [2]*strand.Comm
	together(t, w, func(ctx context.Context, c *strand.Comm) (err error) {
		dups[c.Rank()], err = c.Dup(ctx)
		return err
	})
	other, err := dups[0].Ibcast(make([]byte, 8), 1)
	require.NoError(t, err)
	ended, before := make(chan error, 1), w[1].Stats().Unexpected
	go func() {
		ended <- strand.Allreduce(world.Context(t), dups[0], strand.Sum[int](), make([]int, 1), make([]int, 1))
	}()
	for ctx := world.Context(t); w[1].Stats().Unexpected == before; runtime.Gosched() {
		_, _, err := dups[1].Iprobe(0, 1)
		require.NoError(t, err)
		require.NoError(t, ctx.Err())
	}
	require.NoError(t, dups[0].Free())
	require.ErrorIs(t, <-ended, strand.ErrFreed)
	_, err = other.Wait(world.Context(t))
	require.ErrorIs(t, err, strand.ErrFreed)
	require.NoError(t, dups[1].Free())
}

// What is wrong in a call before it begins harms nothing: the rank may make it again.
func TestMistakesLoseNothing(t *testing.T) {
	w := world.Open(t, 2)
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		var none strand.Op[int]
		assert.Error(t, c.Bcast(ctx, nil, 2))
		assert.Error(t, strand.Allreduce(ctx, c, none, []int{1}, []int{1}))
		assert.Error(t, strand.Allreduce(ctx, c, strand.NewOp[int](nil, true), []int{1}, []int{1}))
		assert.Error(t, c.Gather(ctx, make([]byte, 2), make([]byte, 3), c.Rank()))
		assert.Error(t, c.Allgatherv(ctx, make([]byte, 2), make([][]byte, 2)))
		_, err := strand.Iscan(c, none, nil, nil)
		assert.Error(t, err)
		got := make([]int, 1)
		err = strand.Allreduce(ctx, c, strand.Sum[int](), []int{1}, got)
		assert.Equal(t, []int{2}, got)
		return err
	})
}
