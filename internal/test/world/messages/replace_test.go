package messages_test

import (
	"context"
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
