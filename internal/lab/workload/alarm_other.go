//go:build !linux

package workload

import (
	"context"
	"time"
)

// An alarm wakes a goroutine at a time of [clock], as exactly as Go does.
type alarm struct{}

func newAlarm(context.Context) (*alarm, error) { return new(alarm), nil }

// wait returns at a time, at once if that has passed, or when the context has ended.
func (*alarm) wait(ctx context.Context, at int64) error {
	now, err := clock()
	if err != nil {
		return err
	}
	timer := time.NewTimer(time.Duration(at - now))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

func (*alarm) close() error { return nil }
