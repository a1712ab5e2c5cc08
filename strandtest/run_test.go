package strandtest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/strandtest"
)

func TestHello(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.Send(ctx, []byte("hello"), 1, 7)
		}
		buf := make([]byte, 16)
		st, err := c.Recv(ctx, buf, 0, strand.AnyTag)
		require.NoError(t, err)
		require.Equal(t, strand.Status{Source: 0, Tag: 7, Count: 5}, st)
		require.Equal(t, "hello", string(buf[:st.Count]))
		return nil
	})
}

func TestSelf(t *testing.T) {
	strandtest.Run(t, 1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for _, n := range []int{0, 1, 1000, 5000, 1 << 20} {
			out, in := make([]byte, n), make([]byte, n)
			for i := range out {
				out[i] = byte(i)
			}
			st, err := c.Sendrecv(ctx, out, 0, 3, in, 0, 3)
			require.NoError(t, err)
			require.Equal(t, n, st.Count)
			require.Equal(t, out, in)
		}
		return nil
	})
}

func TestSizes(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		peer := 1 - c.Rank()
		for _, n := range []int{0, 1, 100, 4096, 4097, 60000, 65536, 65537, 200000, 262144, 262145, 1 << 20, 5<<20 + 3} {
			out, in := make([]byte, n), make([]byte, n)
			for i := range out {
				out[i] = byte(i * (c.Rank() + 3))
			}
			st, err := c.Sendrecv(ctx, out, peer, 3, in, peer, 3)
			require.NoError(t, err)
			require.Equal(t, n, st.Count)
			for i := range in {
				if in[i] != byte(i*(peer+3)) {
					t.Fatalf("size %d: byte %d differs", n, i)
				}
			}
		}
		return nil
	})
}

func TestRing(t *testing.T) {
	strandtest.Run(t, 8, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		v := []int64{0}
		next, prev := (c.Rank()+1)%8, (c.Rank()+7)%8
		for range 50 {
			if c.Rank() == 0 {
				v[0]++
				require.NoError(t, strand.Send(ctx, c, v, next, 1))
				_, _, err := strand.Recv(ctx, c, v, prev, 1)
				require.NoError(t, err)
				continue
			}
			_, _, err := strand.Recv(ctx, c, v, prev, 1)
			require.NoError(t, err)
			v[0]++
			require.NoError(t, strand.Send(ctx, c, v, next, 1))
		}
		if c.Rank() == 0 {
			require.EqualValues(t, 50*8, v[0])
		}
		require.NoError(t, c.Barrier(ctx))
		d, err := c.Dup(ctx)
		require.NoError(t, err)
		s, err := d.Split(ctx, c.Rank()%2, -c.Rank())
		require.NoError(t, err)
		require.Equal(t, 4, s.Size())
		require.Equal(t, 3-c.Rank()/2, s.Rank())
		return s.Barrier(ctx)
	})
}

// A rank may skip the test, as any helper of a test may: the others then end, and that is no failure.
func TestARankSkipsTheTest(t *testing.T) {
	var skipped, reached bool
	t.Run("skips", func(t *testing.T) {
		defer func() { skipped = t.Skipped() && !t.Failed() }()
		strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
			if w.Rank() == 1 {
				t.Skip("this host has no such thing") //nolint:forbidigo // the test is about this
			}
			_, err := w.Comm().Recv(ctx, make([]byte, 1), 1, 0)
			return err
		})
		reached = true
	})
	require.True(t, skipped)
	require.False(t, reached, "what follows Run is skipped too")
}
