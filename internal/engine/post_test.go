package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPostFromManyGoroutines(t *testing.T) {
	for name, waiting := range map[string]func(*testing.T, *Engine, *flag){
		"nobody waits": func(t *testing.T, e *Engine, f *flag) {
			e.until(t, "all ran", func() bool { return f.done })
		},
		"one waits": func(t *testing.T, e *Engine, f *flag) {
			require.NoError(t, e.waitFor(watchdog(t), f, nil))
		},
		"one polls": func(t *testing.T, e *Engine, f *flag) {
			e.until(t, "all ran", func() bool {
				e.Poll(nil)
				return f.done
			})
		},
	} {
		for spinning, spin := range spins {
			t.Run(name+", "+spinning, func(t *testing.T) {
				const posters, posts = 8, 500
				e := newEngine(t, Options{Spin: spin})
				var f flag
				ran := make([]int, posters)
				total := 0
				var all sync.WaitGroup
				for i := range posters {
					all.Go(func() {
						for n := range posts {
							e.Post(func() {
								assert.Equal(t, n, ran[i], "out of order")
								ran[i]++
								if total++; total == posters*posts {
									f.set(e)
								}
							})
						}
					})
				}
				waiting(t, e, &f)
				all.Wait()
			})
		}
	}
}

// Who posts may have the lock, as every module has in its up-calls.
func TestPostUnderTheLock(t *testing.T) {
	for name, before := range map[string]func(*testing.T, *Engine){
		"nobody has the role":           func(*testing.T, *Engine) {},
		"the background goroutine does": func(t *testing.T, e *Engine) { e.untilBackground(t) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{})
			before(t, e)
			ran := make(chan struct{})
			e.Lock()
			e.Post(func() {
				e.Post(func() { close(ran) })
			})
			e.Unlock()
			select {
			case <-ran:
			case <-time.After(patience):
				t.Fatal("what was posted does not run")
			}
		})
	}
}

func TestPollWithinUpcallDoesNothing(t *testing.T) {
	e := newEngine(t, Options{})
	m := &module{e: e}
	e.Lock()
	e.AddProgressor(m)
	e.Unlock()
	check := func() {
		calls := m.calls
		e.Poll(nil)
		assert.Equal(t, calls, m.calls)
	}
	t.Run("of a poll", func(t *testing.T) {
		e.Lock()
		defer e.Unlock()
		ran := false
		e.After(0, func() { ran = true; check() })
		e.Poll(nil)
		require.True(t, ran)
	})
	t.Run("of the background goroutine", func(t *testing.T) {
		e.untilBackground(t)
		ran := make(chan struct{})
		e.Post(func() {
			check()
			assert.Same(t, &e.background.waiter, e.holder)
			close(ran)
		})
		<-ran
	})
	t.Run("of a tick", func(t *testing.T) {
		e.untilBackground(t)
		ran := make(chan struct{})
		e.Lock()
		e.Flush(flushFunc(func() {
			check()
			close(ran)
		}))
		e.Unlock()
		<-ran
	})
}

type flushFunc func()

func (f flushFunc) Flush() { f() }
