package workload

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// later is how long after its time an alarm of so short a span wakes.
func later(t *testing.T, a *alarm, span time.Duration) time.Duration {
	t.Helper()
	now, err := clock()
	require.NoError(t, err)
	require.NoError(t, a.wait(t.Context(), now+int64(span)))
	woken, err := clock()
	require.NoError(t, err)
	require.GreaterOrEqual(t, woken, now+int64(span), "nobody is woken too early")
	return time.Duration(woken - now - int64(span))
}

// A pace of some hundred microseconds is kept: the delays of messages would have the sender's own in them. A machine that does
// other things wakes up late now and then, so one good stretch of many will do. Timers of Go's have none.
func TestAlarmIsExact(t *testing.T) {
	a, err := newAlarm(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, a.close()) }()
	const span = 100 * time.Microsecond
	var best time.Duration
	for range 1000 {
		stretch := make([]time.Duration, 10)
		for i := range stretch {
			stretch[i] = later(t, a, span)
		}
		if best = slices.Sorted(slices.Values(stretch))[len(stretch)/2]; best < 4*span {
			return
		}
	}
	assert.Less(t, best, 4*span)
}

func TestAlarmOfThePast(t *testing.T) {
	a, err := newAlarm(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.wait(t.Context(), 1))
	require.NoError(t, a.close())
}

func TestAlarmEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	a, err := newAlarm(ctx)
	require.NoError(t, err)
	time.AfterFunc(time.Millisecond, func() { cancel(why) })
	now, err := clock()
	require.NoError(t, err)
	require.ErrorIs(t, a.wait(ctx, now+int64(time.Hour)), why)
	require.NoError(t, a.close())
}
