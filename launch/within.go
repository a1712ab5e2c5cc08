package launch

import (
	"context"
	"time"
)

const (
	// muchOf says when a timer fires much too late: by more than an eighth of its time.
	muchOf = 8
	// moment is how much longer who was away waits.
	moment = time.Second
)

// within returns a context that ends after d. A job that was stopped, by Ctrl-Z for example, finds the time over when it goes on, though
// the answer is there already. So a timer that fires much too late waits for a moment more. Since is [time.Since].
func within(d time.Duration, since func(time.Time) time.Duration, cause error) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(context.Background())
	begun := time.Now()
	expire := func() { end(cause) }
	timer := time.AfterFunc(d, func() {
		if since(begun) > d+d/muchOf {
			time.AfterFunc(moment, expire)
			return
		}
		expire()
	})
	return ctx, func() {
		timer.Stop()
		end(nil)
	}
}
