package messages_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// A ring passes values on in place, long ones too.
func TestSendrecvReplace(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		next, prev := (c.Rank()+1)%3, (c.Rank()+2)%3
		for _, n := range []int{0, 3, 100_000} {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(c.Rank() + 10*i)
			}
			for range 3 {
				got, st, err := strand.SendrecvReplace(ctx, c, values, next, 1, prev, 1)
				if err != nil {
					return err
				}
				assert.Equal(t, []int{n, prev}, []int{got, st.Source})
			}
			for i := range values {
				if values[i] != int64(c.Rank()+10*i) {
					assert.Fail(t, "it has not come round", "%d values, place %d: %d", n, i, values[i])
					break
				}
			}
		}
		return nil
	})
}

// A ring passes the columns of matrices on, each in its place. What a shorter message does not bring stays as it was.
func TestSendrecvReplaceView(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		next, prev := (c.Rank()+1)%3, (c.Rank()+2)%3
		for _, rows := range []int{0, 2, 100_000} {
			const columns = 3
			matrix, want := make([]int32, rows*columns), make([]int32, rows*columns)
			for i := range matrix {
				matrix[i] = int32(10*i + c.Rank())
				want[i] = matrix[i]
				if i%columns == 1 {
					want[i] = int32(10*i + prev)
				}
			}
			column := strand.Vector[int32](rows, 1, columns).At(1)
			st, err := c.SendrecvReplaceView(ctx, column.Of(matrix), next, 1, prev, 1)
			if err != nil {
				return err
			}
			assert.Equal(t, strand.Status{Source: prev, Tag: 1, Count: 4 * rows}, st)
			assert.True(t, slices.Equal(want, matrix), "%d rows", rows)
		}
		short := []int32{1, 2, 3, 4, 5, 6, 7}
		out, err := c.Isend(make([]byte, 8), c.Rank(), 2)
		if err != nil {
			return err
		}
		every := strand.Vector[int32](3, 1, 3)
		if _, err = c.SendrecvReplaceView(ctx, every.Of(short), strand.ProcNull, 0, c.Rank(), 2); err != nil {
			return err
		}
		assert.Equal(t, []int32{0, 2, 3, 0, 5, 6, 7}, short)
		_, err = c.SendrecvReplaceView(ctx, every.Of(short[1:]), strand.ProcNull, 0, strand.ProcNull, 2)
		assert.ErrorContains(t, err, "SendrecvReplaceView: the layout picks values 0 to 6: the slice has 6")
		_, err = c.SendrecvReplaceView(ctx, every.Repeat(2, 0).Of(short), strand.ProcNull, 0, strand.ProcNull, 2)
		assert.ErrorContains(t, err, "picks a value twice")
		_, err = out.Wait(ctx)
		return err
	})
}

// With nobody, and after an error, the buffer is as it was.
func TestSendrecvReplaceNothing(t *testing.T) {
	c, buf := world.Open(t, 1)[0].Comm(), []byte("here")
	st, err := c.SendrecvReplace(world.Context(t), buf, strand.ProcNull, 0, strand.ProcNull, 0)
	require.NoError(t, err)
	require.Equal(t, strand.ProcNull, st.Source)
	_, err = c.SendrecvReplace(world.Context(t), buf, 0, 0, 7, 0)
	require.ErrorIs(t, err, strand.ErrRank)
	ended, cancel := context.WithCancel(world.Context(t))
	cancel()
	_, err = c.SendrecvReplace(ended, buf, 0, 0, 0, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "here", string(buf))

	require.NoError(t, c.Send(world.Context(t), []byte("news, long"), 0, 1))
	_, err = c.SendrecvReplace(world.Context(t), buf, strand.ProcNull, 0, 0, 1)
	require.ErrorIs(t, err, strand.ErrTruncated)
	require.Equal(t, "news", string(buf))
}
