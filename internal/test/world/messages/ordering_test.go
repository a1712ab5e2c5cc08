package messages_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/strandtest"
)

// Messages of a relaxed communicator keep their order within a tag, and its
// duplicates are relaxed too; the orderings live side by side.
func TestOrderings(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		relaxed, err := w.Comm().DupWith(ctx, strand.Relaxed)
		require.NoError(t, err)
		again, err := relaxed.Dup(ctx)
		require.NoError(t, err)
		strict, err := again.DupWith(ctx, strand.Strict)
		require.NoError(t, err)
		const n = 200
		for _, c := range []*strand.Comm{relaxed, again, strict} {
			if c.Rank() == 0 {
				for i := range n {
					require.NoError(t, strand.Send(ctx, c, []int32{int32(i)}, 1, i%7))
				}
				continue
			}
			last := map[int]int32{}
			v := make([]int32, 1)
			for i := range n {
				_, st, err := strand.Recv(ctx, c, v, strand.AnySource, strand.AnyTag)
				require.NoError(t, err)
				if before, seen := last[st.Tag]; seen {
					require.Greater(t, v[0], before)
				}
				last[st.Tag] = v[0]
				if c == strict {
					require.EqualValues(t, i, v[0])
				}
			}
		}
		return nil
	})
}
