package collectives_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// What a rank lends is there until all have read it, though nothing of its program uses it any more. Only its place is in memory, which
// keeps nothing.
func TestWhatIsLentIsKept(t *testing.T) {
	const n, length = 2, 200_000
	for name, call := range map[string]func(context.Context, *strand.Comm, []byte) error{
		"Bcast": func(ctx context.Context, c *strand.Comm, b []byte) error { return c.Bcast(ctx, b, 0) },
		"Scatter": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Scatter(ctx, b, make([]byte, length/n), 0)
		},
		"Gather": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Gather(ctx, b, make([]byte, n*length), 1)
		},
		"Reduce": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return strand.Reduce(ctx, c, strand.Max[byte](), b, make([]byte, length), 1)
		},
		"Allreduce": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return strand.Allreduce(ctx, c, strand.Max[byte](), b, make([]byte, length))
		},
		"ReduceScatterBlock": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return strand.ReduceScatterBlock(ctx, c, strand.Max[byte](), b, make([]byte, length/n))
		},
		"Allgather": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Allgather(ctx, b[:length/n], b)
		},
		"Alltoall": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Alltoall(ctx, b, make([]byte, length))
		},
		"Alltoallv": func(ctx context.Context, c *strand.Comm, b []byte) error {
			const half = length / n
			return c.Alltoallv(ctx, [][]byte{b[:half], b[half:]}, [][]byte{make([]byte, half), make([]byte, half)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			lent := []strand.Option{}
			for _, algorithm := range []string{"bcast", "scatter", "gather", "reduce", "allreduce", "reducescatter", "allgather", "alltoall"} {
				lent = append(lent, strand.WithParam("coll_"+algorithm, "lent"))
			}
			w := warmed(t, n, lent...)
			var first weak.Pointer[byte]
			ended := sleeping(world.Context(t), w[:1], func(ctx context.Context, c *strand.Comm) error {
				b := make([]byte, length)
				first = weak.Make(&b[0])
				return call(ctx, c, b)
			})
			runtime.GC()
			runtime.GC()
			require.NotNil(t, first.Value(), "it is lent")
			require.NoError(t, call(world.Context(t), w[1].Comm(), make([]byte, length)))
			require.NoError(t, errors.Join(<-ended...))
		})
	}
}

// Who leaves a call early may give to the system what it has lent. Others that can not read it say who has left, and not that
// they can not read.
func TestWhatIsGoneOnceItsRankHasLeft(t *testing.T) {
	const length = 400_000
	w := warmed(t, 2, strand.WithParam("coll_reduce", "lent"))
	mem, err := unix.Mmap(-1, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(mem)) }()
	over, cancel := context.WithCancel(world.Context(t))
	left := sleeping(over, w[:1], func(ctx context.Context, c *strand.Comm) error {
		return strand.Reduce(ctx, c, strand.Max[byte](), mem, nil, 1)
	})
	var once sync.Once
	op := strand.NewOp(func(a, _ byte) byte {
		once.Do(func() { // with some of it read, and the rest to be read
			cancel()
			require.ErrorIs(t, errors.Join(<-left...), context.Canceled)
			require.NoError(t, unix.Mprotect(mem, unix.PROT_NONE)) // if it was unmapped something else could lie there
		})
		return a
	}, true)
	err = strand.Reduce(world.Context(t), w[1].Comm(), op, make([]byte, length), make([]byte, length), 1)
	require.ErrorIs(t, err, strand.ErrOutOfStep)
	e, is := errors.AsType[*strand.CollectiveError](err)
	require.True(t, is, "%v", err)
	require.Zero(t, e.Rank)
}
