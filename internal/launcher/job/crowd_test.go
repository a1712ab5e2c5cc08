package job

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
)

// A host may have far more ranks than processors. They start, meet and leave without a word of complaint.
func TestCrowd(t *testing.T) {
	leak.Check(t)
	for what, ranks := range map[string]int{"a few meet": need.Times(need.Daily(20, 32), 1000), "all meet all": need.Times(need.Daily(12, 20), 200)} {
		for _, btl := range []string{"", "tcp,self"} {
			t.Run(fmt.Sprintf("%s, btl=%s", what, btl), func(t *testing.T) {
				c, out := playing(t, "crowd: "+what, ranks)
				c.Environ = append(c.Environ, "STRAND_BTL="+btl)
				c.Timeout = 5 * time.Minute
				begin := time.Now()
				require.NoError(t, Run(t.Context(), c), "%s", out)
				assert.Empty(t, out.String())
				t.Logf("%d ranks: %v", ranks, time.Since(begin))
			})
		}
	}
}

// playMeeting has ranks of a crowd talk: each to a few, or to all.
func playMeeting(all bool) {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if all {
			return c.Alltoall(ctx, make([]byte, w.Size()), make([]byte, w.Size()))
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		sum, buf := []int{0}, make([]byte, 1)
		next, last := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		if _, err := c.Sendrecv(ctx, buf, next, 1, make([]byte, 1), last, 1); err != nil {
			return err
		}
		if err := strand.Allreduce(ctx, c, strand.Sum[int](), []int{w.Rank()}, sum); err != nil {
			return err
		}
		if want := w.Size() * (w.Size() - 1) / 2; sum[0] != want {
			return fmt.Errorf("the sum is %d, not %d", sum[0], want)
		}
		if w.Rank() != 0 { // all of them to one
			return c.Send(ctx, buf, 0, 2)
		}
		for range w.Size() - 1 {
			if _, err := c.Recv(ctx, buf, strand.AnySource, 2); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
