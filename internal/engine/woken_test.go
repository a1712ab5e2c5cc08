package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who is woken by a waiter that goes on polling runs before that one's next poll. If that one has waited for long, and only then,
// the woken one has the role if it waits again. Go's scheduler looks elsewhere first now and then.
func TestWhoIsWokenRunsAndPolls(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, waited := range map[string]int64{"a long wait": longWait, "a short wait": -int64(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: time.Hour})
			e.Lock()
			e.Helpers(1) // so that it spins where others want the processor, too
			e.Unlock()
			ctx, rounds, ran, took := watchdog(t), 50, 0, 0
			for range rounds {
				long, question, answer, resumed := &flag{}, &flag{}, &flag{}, false
				theirs := &counter{at: func(int) bool { answer.set(e); return true }}
				woken, polls := false, 0
				ours := &counter{at: func(int) bool {
					switch {
					case answer.done:
						long.set(e)
					case woken:
						if polls++; polls == 1 && resumed {
							ran++
						}
						if answer.waiter != nil { // the second one has not got the role
							answer.set(e)
						}
					case question.waiter != nil:
						woken = true
						e.clock = e.poller.now() + waited // for this poll
						question.set(e)
					}
					return woken
				}}
				var both sync.WaitGroup
				both.Go(func() { assert.NoError(t, e.waitFor(ctx, long, ours)) })
				e.until(t, "the first one has the role", func() bool { return ours.polls > 0 })
				both.Go(func() {
					assert.NoError(t, e.waitFor(ctx, question, &counter{}))
					e.Lock()
					resumed = true
					e.Unlock()
					assert.NoError(t, e.waitFor(ctx, answer, theirs))
				})
				both.Wait()
				if theirs.polls > 0 {
					took++
				}
				if polls == 0 {
					ran++
				}
			}
			require.Greater(t, ran, rounds/2)
			if waited > 0 {
				require.Greater(t, took, rounds/2)
			} else {
				require.Less(t, took, rounds/2)
			}
		})
	}
}

// Who never waits has other goroutines of the only processor run, and hears whether one of them waits for messages.
func TestWhoNeverWaitsMakesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := newEngine(t, Options{Spin: time.Hour})
	rounds, ran := 50, 0
	for range rounds {
		var done atomic.Bool
		go done.Store(true)
		e.Lock()
		e.letIn = e.poller.now() - goschedEvery
		assert.False(t, e.MakeWay(false))
		e.Unlock()
		if done.Load() {
			ran++
		}
	}
	assert.Greater(t, ran, rounds/2)

	over := &flag{}
	var waits sync.WaitGroup
	waits.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), over, &counter{})) })
	e.until(t, "somebody waits", func() bool { return e.holder != nil && e.holder != &e.background.waiter })
	e.Lock()
	assert.True(t, e.MakeWay(false))
	assert.True(t, e.MakeWay(true))
	over.set(e)
	e.Unlock()
	waits.Wait()
}
