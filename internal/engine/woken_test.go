package engine

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who is woken by a waiter that goes on polling runs before that one's next poll, and has the role if it waits again. Go's
// scheduler looks elsewhere first now and then.
func TestWhoIsWokenRunsAndPolls(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := newEngine(t, Options{Spin: time.Hour})
	e.Lock()
	e.Helpers(1) // so that it spins where others want the processor, too
	e.Unlock()
	ctx, rounds, prompt := watchdog(t), 100, 0
	for range rounds {
		long, question, answer := &flag{}, &flag{}, &flag{}
		theirs := &counter{at: func(int) bool { answer.set(e); return true }}
		woken, polls := false, 0
		ours := &counter{at: func(int) bool {
			switch {
			case answer.done:
				long.set(e)
			case woken:
				if polls++; answer.waiter != nil { // too late for the role
					answer.set(e)
				}
			case question.waiter != nil:
				woken = true
				question.set(e)
			}
			return woken
		}}
		var both sync.WaitGroup
		both.Go(func() { assert.NoError(t, e.waitFor(ctx, long, ours)) })
		e.until(t, "the first one has the role", func() bool { return ours.polls > 0 })
		both.Go(func() {
			assert.NoError(t, e.waitFor(ctx, question, &counter{}))
			assert.NoError(t, e.waitFor(ctx, answer, theirs))
		})
		both.Wait()
		if polls == 0 && theirs.polls > 0 {
			prompt++
		}
	}
	require.Greater(t, prompt, rounds/2)
}
