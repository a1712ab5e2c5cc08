package launch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A process that was stopped has a moment to find what has come meanwhile.
func TestWithin(t *testing.T) {
	for away, want := range map[time.Duration]time.Duration{
		0: closeTimeout, time.Second: closeTimeout, 2 * time.Second: closeTimeout + moment, time.Hour: closeTimeout + moment,
	} {
		synctest.Test(t, func(t *testing.T) {
			late := errors.New("late")
			begun := time.Now()
			ctx, cancel := within(closeTimeout, func(since time.Time) time.Duration { return time.Since(since) + away }, late)
			defer cancel()
			<-ctx.Done()
			assert.ErrorIs(t, context.Cause(ctx), late)
			assert.Equal(t, want, time.Since(begun), away)
		})
	}
}
