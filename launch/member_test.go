package launch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Only "strand run" ends a rank that has aborted, and tells why.
func TestAwaitEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for _, c := range []struct {
			ctx      context.Context
			launcher string
			want     time.Duration
		}{
			{ctx, "hydra", 0},
			{ctx, strandRun, time.Second},
			{context.Background(), strandRun, endTime},
		} {
			start := time.Now()
			(&member{launcher: c.launcher}).AwaitEnd(c.ctx)
			assert.Equal(t, c.want, time.Since(start), c.launcher)
		}
	})
}
