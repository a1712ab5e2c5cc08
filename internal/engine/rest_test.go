package engine

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// throng is an engine one of whose waiters rests, while the background goroutine stands in for it.
func throng(ctx context.Context, t *testing.T, f *flag, all *sync.WaitGroup, want error) *Engine {
	e := newEngine(t, Options{Crowded: true, Throng: true})
	all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, f, nil), want) })
	e.until(t, "the waiter rests", func() bool { return f.waiter != nil && e.holder == &e.background.waiter && e.blocked })
	return e
}

// In a throng who waits for long leaves the role to the background goroutine, which does all that there is to do.
func TestRestInAThrong(t *testing.T) {
	for name, wake := range map[string]func(e *Engine, p *pair, f *flag){
		"what comes ends the wait": func(e *Engine, p *pair, f *flag) {
			p.then = func() { f.set(e) }
			p.send()
		},
		"what is posted does":     func(e *Engine, _ *pair, f *flag) { e.Unlock(); e.Post(func() { f.set(e) }); e.Lock() },
		"another goroutine does":  func(e *Engine, _ *pair, f *flag) { f.set(e) },
		"what comes in time does": func(e *Engine, _ *pair, f *flag) { e.After(1, func() { f.set(e) }) },
	} {
		t.Run(name, func(t *testing.T) {
			var f flag
			var all sync.WaitGroup
			e := throng(watchdog(t), t, &f, &all, nil)
			p := newPair(t, e)
			e.Lock()
			wake(e, p, &f)
			e.Unlock()
			all.Wait()
		})
	}
}

func TestContextEndsInAThrong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var f flag
	var all sync.WaitGroup
	e := throng(ctx, t, &f, &all, context.Canceled)
	cancel()
	all.Wait()
	e.Lock()
	defer e.Unlock()
	require.Nil(t, f.waiter)
	require.Nil(t, e.queue.first)
}

// Others may wait meanwhile, and take the role; each sees its own condition come true. What is held back does not wait for a tick.
func TestSeveralRestInAThrong(t *testing.T) {
	var first, second flag
	var all sync.WaitGroup
	e := throng(watchdog(t), t, &first, &all, nil)
	all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &second, nil)) })
	e.until(t, "both rest", func() bool { return second.waiter != nil && e.holder == &e.background.waiter && e.blocked })
	e.Lock()
	e.background.tick.Store(forever)
	d := &deferral{e: e}
	e.Flush(d)
	e.Unlock()
	e.until(t, "it is sent", func() bool { return d.flushed == 1 })
	e.Lock()
	second.set(e)
	e.Unlock()
	e.until(t, "the second has gone", func() bool { return second.waiter == nil })
	e.Lock()
	require.NotNil(t, first.waiter)
	first.set(e)
	e.Unlock()
	all.Wait()
}
