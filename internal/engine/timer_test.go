package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

func TestTimersFireInOrder(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		var fired []string
		var at []time.Duration
		e.Lock()
		from := e.Now()
		add := func(name string, d time.Duration) btl.Timer {
			return e.After(d, func() {
				fired = append(fired, name)
				at = append(at, time.Duration(e.Now()-from))
			})
		}
		add("late", 3*time.Second)
		stopped := add("stopped", 2*time.Second)
		add("soon", time.Second)
		add("soon too", time.Second)
		add("soon as well", time.Second)
		e.After(1500*time.Millisecond, stopped.Stop)
		stopped.Stop()
		stopped.Stop()
		gone := add("later", time.Hour)
		e.Unlock()
		pass(4 * time.Second)
		require.Equal(t, []string{"soon", "soon too", "soon as well", "late"}, fired)
		require.Equal(t, []time.Duration{time.Second, time.Second, time.Second, 3 * time.Second}, at)
		e.Lock()
		gone.Stop()
		require.Empty(t, e.timers)
		e.Unlock()
	})
}

// A timer that is set again whenever it fires does not keep the rest from its
// turn, though time stands still.
func TestTimerSetAgainAtOnce(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		e.Lock()
		defer e.Unlock()
		n := 0
		var again func()
		var timer btl.Timer
		again = func() {
			n++
			timer = e.After(0, again)
		}
		again()
		for i := range 5 {
			require.Equal(t, i+1, n)
			e.Poll(nil)
		}
		timer.Stop()
	})
}

// A shorter timer set while all sleep wakes them.
func TestShorterTimer(t *testing.T) {
	for name, wait := range map[string]bool{"the background goroutine": false, "a waiter": true} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				if wait {
					go func() { done <- e.waitFor(ctx, &flag{}, nil) }()
				}
				pass(time.Second)
				e.Lock()
				hour := e.After(time.Hour, func() {})
				e.Unlock()
				pass(time.Second)
				e.Lock()
				set := e.Now()
				var fired int64
				e.After(time.Second, func() { fired = e.Now() })
				e.Unlock()
				pass(time.Minute)
				require.Equal(t, int64(time.Second), fired-set)
				cancel()
				if wait {
					require.ErrorIs(t, <-done, context.Canceled)
				}
				e.Lock()
				hour.Stop()
				e.Unlock()
			})
		})
	}
}

func TestTimerOfRealTime(t *testing.T) {
	e := newEngine(t, Options{})
	e.untilBackground(t)
	fired := make(chan int64, 1)
	e.Lock()
	due := e.Now() + int64(5*time.Millisecond)
	e.After(5*time.Millisecond, func() { fired <- e.Now() })
	e.Unlock()
	require.GreaterOrEqual(t, <-fired, due)
}

// Any program of timers fires those that are left, when they are due, in order.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Engine{poller: newSimulated(), closed: true} // closed: nobody is nudged
		start := e.Now()
		type entry struct {
			timer *timer
			id    int
		}
		var set []entry
		var fired []int
		for id := range rapid.IntRange(0, 50).Draw(t, "timers") {
			// Past the first of two hours, so that real time has no say.
			d := time.Hour + time.Duration(rapid.IntRange(0, 5).Draw(t, "hours"))*time.Hour
			tm := e.After(d, func() { fired = append(fired, id) }).(*timer)
			tm.when = start + int64(d)
			set = append(set, entry{tm, id})
			if rapid.Bool().Draw(t, "stop") {
				i := rapid.IntRange(0, len(set)-1).Draw(t, "which")
				set[i].timer.Stop()
				set = append(set[:i], set[i+1:]...)
			}
		}
		for hour := int64(0); hour < 8; hour++ {
			e.clock = start + hour*int64(time.Hour)
			e.fire()
			var due []int
			for h := int64(1); h <= hour; h++ {
				for _, s := range set {
					if s.timer.when == start+h*int64(time.Hour) {
						due = append(due, s.id)
					}
				}
			}
			require.Equal(t, due, fired)
		}
	})
}

func TestSimulatedWorlds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var engines [2]*Engine
		for i := range engines {
			e, err := New(Options{Simulated: true})
			require.NoError(t, err)
			defer e.Close()
			engines[i] = e
		}
		// They play ping-pong over a wire that takes a millisecond.
		const rounds = 100
		var flags [2]flag
		deliver := func(to int) {
			e := engines[to]
			e.Post(func() { e.After(time.Millisecond, func() { flags[to].set(e) }) })
		}
		from := time.Now()
		done := make(chan error)
		go func() {
			for range rounds {
				if err := engines[1].waitFor(t.Context(), &flags[1], nil); err != nil {
					done <- err
					return
				}
				flags[1] = flag{}
				deliver(0)
			}
			done <- nil
		}()
		for range rounds {
			deliver(1)
			require.NoError(t, engines[0].waitFor(t.Context(), &flags[0], nil))
			flags[0] = flag{}
		}
		require.NoError(t, <-done)
		// Each hop takes the wire's time and at the most two ticks.
		require.LessOrEqual(t, time.Since(from), rounds*2*(time.Millisecond+2*engines[0].opts.Tick))
		_, err := engines[0].Watch(0, nil)
		require.Error(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		from = time.Now()
		require.ErrorIs(t, engines[0].waitFor(ctx, &flag{}, nil), context.DeadlineExceeded)
		require.Equal(t, time.Hour, time.Since(from))
	})
}
