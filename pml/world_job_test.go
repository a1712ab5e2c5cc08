package pml

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// gathering is a job whose last rank comes after a time.
type gathering struct {
	Job
	rank int
	last time.Duration
}

func (g *gathering) Rank() int { return g.rank }
func (g *gathering) Barrier(ctx context.Context) error {
	select {
	case <-time.After(g.last):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Launchers like srun leave the others waiting for a rank that has ended before it has joined. So ranks that wait for long say where,
// once, and not all of them.
func TestLongMeetingIsTold(t *testing.T) {
	const long = 10 * meetingPatience
	for _, c := range []struct {
		rank int
		last time.Duration
		want []string
	}{
		{0, meetingPatience - 1, nil},
		{0, long, []string{"rank 0: has waited in Init for 30s until all ranks come there"}},
		{1, long, []string{"rank 1: has waited in Init for 30s until all ranks come there"}},
		{2, long, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), long/2)
			defer cancel()
			var told []string
			err := meet(ctx, &gathering{rank: c.rank, last: c.last}, func(level btl.LogLevel, line string) {
				assert.Equal(t, btl.LogWarn, level)
				told = append(told, line)
			})
			assert.Equal(t, c.last > long/2, err != nil)
			<-time.After(long) // of the bubble: nothing is said later
			synctest.Wait()
			require.Len(t, told, len(c.want))
			for i := range c.want {
				assert.Contains(t, told[i], c.want[i])
			}
		})
	}
}
