package pml

import (
	"context"
	"fmt"
	"time"

	timers "github.com/strandmp/strand/internal/overdue"
)

// lookUp asks the launcher for a peer's addresses. It gives up when the launcher has
// answered no question at all for pml_peer_timeout. One answer may take longer: the
// launcher is asked one question at a time.
func (p *PML) lookUp(rank int) (string, error) { return p.lookUpBy(rank, time.Since) }

// lookUpBy is lookUp where since is [time.Since].
func (p *PML) lookUpBy(rank int, since func(time.Time) time.Duration) (string, error) {
	ctx, cancel := context.WithCancelCause(p.lookups)
	defer cancel(nil)
	if p.tune.peerTimeout > 0 {
		defer p.watchLauncher(cancel, since)()
	}
	value, err := p.job.Get(ctx, addressKey(rank))
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	p.answer.Store(time.Now())
	return value, err
}

// watchLauncher gives up when the launcher is silent for too long, until stop is called. A process that was stopped has a moment
// more to read what has come meanwhile.
func (p *PML) watchLauncher(giveUp func(error), since func(time.Time) time.Duration) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	asked, patience := time.Now(), p.tune.peerTimeout
	go func() {
		defer close(ended)
		for hadMore := false; ; {
			left := patience - since(p.answered(asked))
			late := left <= 0
			if late {
				left = timers.Moment(patience, -left)
			}
			if late && (hadMore || left == 0) {
				giveUp(fmt.Errorf("the launcher has answered nothing for %v (pml_peer_timeout)", patience))
				return
			}
			hadMore = late
			select {
			case <-time.After(left):
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// answered is when the launcher last answered a question, or when one was asked, if that
// was later.
func (p *PML) answered(asked time.Time) time.Time {
	if last, some := p.answer.Load().(time.Time); some && last.After(asked) {
		return last
	}
	return asked
}
