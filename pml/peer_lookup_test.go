package pml

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// slow is a job whose launcher answers one question at a time, and takes its time; after
// some answers it falls silent.
type slow struct {
	Job
	turn    chan struct{}
	answers int
}

func (s *slow) Get(ctx context.Context, _ string) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.answers--; s.answers < 0 {
		<-ctx.Done()
		return "", ctx.Err()
	}
	select {
	case <-time.After(90 * time.Millisecond): // of the bubble's time
		return "there", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Ten questions take nine times as long as the launcher may be silent, and it is not. Those
// that it then leaves unanswered end together.
func TestLauncherIsSilentWhenItAnswersNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &PML{lookups: t.Context(), job: &slow{turn: make(chan struct{}, 1), answers: 10}}
		p.tune.peerTimeout = 100 * time.Millisecond
		start := time.Now()
		var asking sync.WaitGroup
		var mu sync.Mutex
		answered := 0
		for rank := range 13 {
			asking.Go(func() {
				value, err := p.lookUp(rank)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					assert.Equal(t, "there", value)
					answered++
					return
				}
				assert.ErrorContains(t, err, "the launcher has answered nothing for 100ms (pml_peer_timeout)")
			})
		}
		asking.Wait()
		assert.Equal(t, 10, answered)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// A process that was stopped finds the launcher's time over, and the answer, which has come meanwhile, at the same moment. It
// has another moment to read that.
func TestAnswerThatHasComeWhileTheProcessWasStopped(t *testing.T) {
	const timeout, stopped = 50 * time.Millisecond, time.Hour
	for answers, want := range map[int]string{1: "", 0: "the launcher has answered nothing for 50ms (pml_peer_timeout)"} {
		synctest.Test(t, func(t *testing.T) {
			p := &PML{lookups: t.Context(), job: &slow{turn: make(chan struct{}, 1), answers: answers}}
			p.tune.peerTimeout = timeout
			start := time.Now()
			value, err := p.lookUpBy(1, func(since time.Time) time.Duration {
				if waited := time.Since(since); waited < timeout {
					return waited
				}
				return stopped + time.Since(since)
			})
			if want != "" {
				assert.ErrorContains(t, err, want)
				assert.Equal(t, 2*timeout, time.Since(start), "it ends all the same")
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, "there", value)
		})
	}
}
