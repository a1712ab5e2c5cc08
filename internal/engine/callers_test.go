package engine

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pollOften is a goroutine that does little else than to poll. The lock is held.
func (e *Engine) pollOften(source *counter) {
	for range 2 * oftenPolls {
		e.Poll(source)
	}
}

// Who polls often while another goroutine waits gets the role, and looks for both. When it polls no longer the one that waits gets
// it back.
func TestWhoPollsOftenNeedsNobodyElse(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		over := make(chan error, 1)
		waits := &flag{}
		go func() { over <- e.waitFor(t.Context(), waits, nil) }()
		pass(time.Second)
		for range 3 {
			e.Lock()
			require.True(t, e.Accompanied())
			require.True(t, e.blocked)
			e.pollOften(&counter{})
			e.Unlock()
			synctest.Wait()

			for range 100 {
				polled := &counter{}
				e.Lock()
				e.Poll(polled)
				require.Equal(t, 1, polled.polls)
				require.NotNil(t, waits.waiter, "the other one is parked")
				e.Unlock()
				pass(longTick / 4)
			}
			pass(2 * lentTick)
		}
		e.Lock()
		require.True(t, e.Accompanied())
		e.Poll(&counter{at: func(int) bool { t.Error("polled beside one that is blocked"); return false }})
		e.pollOften(&counter{})
		e.Unlock()
		synctest.Wait()
		e.Lock()
		e.Poll(&counter{at: func(int) bool { waits.set(e); return true }})
		e.Unlock()
		require.NoError(t, <-over)
	})
}

// Who polls now and then leaves it to the one that waits, which is blocked, and does not wake it.
func TestWhoPollsSeldomLeavesTheRole(t *testing.T) {
	simulateCounted(t, func(t *testing.T, e *Engine, p *counted) {
		over := make(chan error, 1)
		waits := &flag{}
		go func() { over <- e.waitFor(t.Context(), waits, nil) }()
		pass(time.Second)
		wakes := p.wakes()
		for range 10 * oftenPolls {
			e.Lock()
			e.Poll(&counter{})
			e.Unlock()
			pass(time.Duration(often) / 8)
		}
		require.Equal(t, wakes, p.wakes())
		e.Lock()
		waits.set(e)
		e.Unlock()
		require.NoError(t, <-over)
	})
}

// A waiter that polls itself leaves the role too, when it has waited for long. If it does not poll, since it has no processor, others do.
func TestWhoPollsOftenBesideOneThatSpins(t *testing.T) {
	e := newEngine(t, Options{Spin: time.Hour})
	e.Lock()
	e.Helpers(1) // so that it spins where others want the processor, too
	e.Unlock()
	waits := &flag{}
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), waits, &counter{})) })
	e.until(t, "it spins", func() bool { return e.Accompanied() && e.holder != &e.caller })
	e.Lock()
	polled := &counter{}
	e.Poll(polled)
	e.Poll(polled) // the other one can not have polled meanwhile
	require.Positive(t, polled.polls)
	require.True(t, e.Accompanied())
	e.Unlock()
	e.until(t, "it has left the role", func() bool {
		e.pollOften(&counter{})
		return !e.Accompanied()
	})
	e.Lock()
	waits.set(e)
	e.Unlock()
	all.Wait()
}

// Others that come to wait take the role, and hand it on.
func TestWaitsBesideWhoPolls(t *testing.T) {
	e := newEngine(t, Options{})
	first, second := &flag{}, &flag{}
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), first, nil)) })
	e.until(t, "it waits", func() bool { return e.Accompanied() && e.blocked })
	e.until(t, "it has left the role", func() bool {
		e.pollOften(&counter{})
		return !e.Accompanied()
	})
	all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), second, nil)) })
	e.until(t, "the other one waits", func() bool { return e.Accompanied() && e.blocked && second.waiter != nil })
	e.Lock()
	second.set(e)
	e.Unlock()
	e.until(t, "the first one has the role", func() bool { return second.waiter == nil && e.Accompanied() && e.blocked })
	e.Lock()
	first.set(e)
	e.Unlock()
	all.Wait()
}

// What a goroutine waits for may come while it lets another one run, just before it leaves the role to one that polls often. Nobody wakes it then, as it does not
// sleep yet: it would wait until that one polls no longer.
func TestNobodyLeavesTheRoleWhoHasWhatHeWaitsFor(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		waits, over := &flag{}, make(chan error, 1)
		source := &counter{at: func(n int) bool {
			if n == 1 {
				e.holder.since -= longWait
				e.callers.wanted, e.woken = true, true
				go func() {
					e.Lock()
					waits.set(e)
					e.Unlock()
				}()
			}
			return false
		}}
		go func() { over <- e.waitFor(t.Context(), waits, source) }()
		synctest.Wait()
		require.Len(t, over, 1, "it sleeps")
		require.NoError(t, <-over)
	})
}

// What a goroutine waits for may come true as it leaves the role, by a frame that an up-call has held back until then. It would
// sleep for ever where the one to whom it leaves the role comes to wait, and has nothing more to receive.
func TestNobodySleepsWhoLeavesTheRoleWithWhatHeWaitsFor(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		waits, over := &flag{}, make(chan error, 1)
		source := &counter{at: func(n int) bool {
			if n == 1 {
				e.holder.since -= longWait
				e.callers.wanted = true
				e.Flush(flushFunc(func() { waits.set(e) }))
			}
			return false
		}}
		go func() { over <- e.waitFor(t.Context(), waits, source) }()
		synctest.Wait()
		require.Len(t, over, 1, "it sleeps")
		require.NoError(t, <-over)
	})
}

// A goroutine of the library's sleeps at once where the program polls by itself, and is woken by what a poll finds. When the program polls no longer it polls itself.
func TestWhoWaitsBesideLeavesTheRole(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		beside := func(f *flag, source *counter) chan error {
			over := make(chan error, 1)
			go func() {
				e.Lock()
				defer e.Unlock()
				over <- e.WaitBeside(t.Context(), f, source)
			}()
			synctest.Wait()
			return over
		}
		poll := func(at func(int) bool) {
			e.Lock()
			e.Poll(&counter{at: at})
			e.Unlock()
		}
		pass(time.Second)
		for range 3 {
			poll(nil)
			waits, idle := &flag{}, &counter{}
			over := beside(waits, idle)
			require.Zero(t, idle.polls)
			require.NotNil(t, waits.waiter, "it sleeps")
			poll(func(int) bool { waits.set(e); return true })
			synctest.Wait()
			require.Len(t, over, 1)
			require.NoError(t, <-over)

			poll(nil)
			waits = &flag{}
			over = beside(waits, idle)
			pass(2 * lentTick)
			require.Positive(t, idle.polls, "nobody else has polled")
			e.Lock()
			waits.set(e)
			e.Unlock()
			require.NoError(t, <-over)

			pass(time.Duration(2 * justNow)) // the program has not polled for some time
			waits, idle = &flag{}, &counter{}
			over = beside(waits, idle)
			require.Positive(t, idle.polls)
			e.Lock()
			waits.set(e)
			e.Unlock()
			require.NoError(t, <-over)
		}
	})
}

// oneProcessor has Go use one processor until the test ends.
func oneProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// Who polls in the place of one that waits for a processor has those run at once whom that wakes: nobody else does so.
func TestWhoPollsInAnothersPlaceHasWokenRun(t *testing.T) {
	oneProcessor(t)
	e := newEngine(t, Options{Spin: time.Hour})
	e.Lock()
	e.Helpers(1) // so that the one with the role lets other goroutines run
	e.Unlock()
	holds, parked := &flag{}, &flag{}
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), holds, &counter{})) })
	e.until(t, "it spins", func() bool { return e.Accompanied() && e.holder != &e.caller })
	over := make(chan error, 1)
	go func() { over <- e.waitFor(watchdog(t), parked, &counter{}) }()
	e.until(t, "the other one is parked", func() bool { return parked.waiter != nil })

	e.Lock()
	for range 3 { // it takes the one with the role for one that polls, the first time
		e.Poll(&counter{at: func(int) bool { parked.set(e); return true }})
	}
	e.Unlock()
	assert.Len(t, over, 1)
	e.Lock()
	holds.set(e)
	e.Unlock()
	all.Wait()
	require.NoError(t, <-over)
}

// Who polls often, and has asked for the role, lets the one run that is to leave it.
func TestWhoAsksForTheRoleStandsBack(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		oneProcessor(t)
		over := make(chan error, 1)
		waits := &flag{}
		go func() { over <- e.waitFor(t.Context(), waits, nil) }()
		pass(time.Second)
		e.Lock()
		require.True(t, e.blocked)
		e.pollOften(&counter{})
		assert.False(t, e.Accompanied(), "it has got no processor")
		waits.set(e)
		e.Unlock()
		require.NoError(t, <-over)
	})
}

// A goroutine that comes to wait may run before another one that was started, or woken, earlier. It takes the role, and lets that one run. That it runs when others
// are let run is likely and not certain, since Go's collector may come first: the order that the test is about comes in one of some attempts.
func TestWhoTakesTheRoleKnowsOfThoseThatWereStarted(t *testing.T) {
	const attempts = 20
	oneProcessor(t)
	known := false
	for i := 0; i < attempts && !known; i++ {
		simulate(t, func(t *testing.T, e *Engine) {
			waits, over := &flag{}, make(chan error, 1)
			source := &counter{at: func(int) bool {
				known = e.woken
				waits.set(e)
				return true
			}}
			e.Started()
			go func() { over <- e.waitFor(t.Context(), waits, source) }()
			e.Lock()
			e.Poll(&counter{})
			e.Unlock()
			require.NoError(t, <-over)
		})
	}
	require.True(t, known)
}
