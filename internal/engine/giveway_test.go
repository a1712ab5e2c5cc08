package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pollInVain polls so often, without finding anything, in an engine whose waiters spin. The lock is held.
func (e *Engine) pollInVain(times int) {
	e.opts.Spin = time.Millisecond
	defer func() { e.opts.Spin = 0 }() // nobody else spins in virtual time
	for range times {
		e.Poll(&counter{})
	}
}

// Whom Test and Iprobe tell nothing, again and again, offers the processor as a waiter does. Whoever is to send may wait for it.
func TestWhoPollsInVainGivesWay(t *testing.T) {
	simulateWith(t, Options{Crowded: true}, func(t *testing.T, e *Engine) {
		e.Lock()
		defer e.Unlock()
		offers := func() int { return e.yields.good } // none takes time here
		e.pollInVain(crowdPolls - 1)
		require.Zero(t, offers())
		e.pollInVain(3)
		require.Equal(t, 3, offers())
		e.Poll(&counter{at: func(int) bool { return true }})
		e.pollInVain(crowdPolls - 1)
		require.Equal(t, 3, offers(), "there was something")
		e.pollInVain(1)
		require.Equal(t, 4, offers())
		e.yields.until = e.Now() + int64(time.Second)
		e.pollInVain(2)
		require.Equal(t, 4, offers(), "others compute")
		e.yields.until, e.vain.until = 0, e.Now()+1
		e.pollInVain(2)
		e.Poll(&counter{at: func(int) bool { return true }})
		e.pollInVain(crowdPolls)
		require.Equal(t, 4, offers(), "an offer was slow")
	})
}

// Ranks that are goroutines of one process give way to each other however long that takes: if none did for some time after a slow offer, all offers would be slow.
func TestWhoPollsInVainGivesWayToRanksOfTheProcess(t *testing.T) {
	simulateWith(t, Options{Crowded: true}, func(t *testing.T, e *Engine) {
		other, err := New(Options{Simulated: true})
		require.NoError(t, err)
		defer other.Close()
		e.Lock()
		defer e.Unlock()
		e.vain.until = e.Now() + int64(time.Second)
		e.pollInVain(crowdPolls)
		require.Equal(t, 1, e.yields.good, "an offer was slow")
		e.yields.until = e.vain.until
		e.pollInVain(1)
		require.Equal(t, 2, e.yields.good, "offers were slow")
	})
}

// Outside of a crowd it polls for some time before, as a waiter does.
func TestWhoPollsInVainPollsForSomeTime(t *testing.T) {
	simulateWith(t, Options{}, func(t *testing.T, e *Engine) {
		const step = time.Duration(littleElse) / 2
		for began := e.Now(); e.Now()-began < quickSpin+int64(step); pass(step) {
			e.Lock()
			require.Zero(t, e.yields.good)
			e.pollInVain(quickPolls)
			e.Unlock()
		}
		e.Lock()
		defer e.Unlock()
		require.Positive(t, e.yields.good)
	})
}

// Who polls now and then does something else in between, and keeps the processor for it.
func TestWhoPollsSeldomKeepsTheProcessor(t *testing.T) {
	simulateWith(t, Options{Crowded: true}, func(t *testing.T, e *Engine) {
		for range 3 * quickPolls {
			e.Lock()
			e.pollInVain(1)
			e.Unlock()
			pass(time.Duration(littleElse) + time.Nanosecond)
		}
		e.Lock()
		defer e.Unlock()
		require.Zero(t, e.yields.good)
	})
}

// Whom a poll wakes runs before the program goes on, and so does a goroutine that was just started: there may be no other thread for them for a long time.
func TestWhoPollsLetsOthersRunAtOnce(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // no other thread runs them
		var ran atomic.Int64
		atOnce, before := 0, int64(0)
		const times = 20
		for i := range times {
			go ran.Add(1)
			e.Started()
			e.Lock()
			e.Poll(&counter{at: func(int) bool { return i%2 == 0 }})
			e.Unlock()
			if now := ran.Load(); now > before {
				atOnce, before = atOnce+1, now
			}
		}
		require.Greater(t, atOnce, times/2) // Go's scheduler prefers another one now and then
	})
}

// Who waits lets a goroutine run that was just started before it polls for more than a moment: that one may do what is waited for.
func TestWhoWaitsLetsWhoWasStartedRunAtOnce(t *testing.T) {
	oneProcessor(t)
	e := newEngine(t, Options{Spin: time.Hour})
	atOnce, briefly := 0, 0
	const times = 20
	for range times {
		over, source := &flag{}, &counter{}
		go func() {
			e.Lock()
			over.set(e)
			e.Unlock()
		}()
		e.Started()
		e.Lock()
		if e.Briefly(over, source) || source.polls > 0 {
			briefly++
		}
		e.Unlock()
		require.NoError(t, e.waitFor(watchdog(t), over, source))
		if source.polls <= 2 {
			atOnce++
		}
	}
	require.Zero(t, briefly)
	require.Greater(t, atOnce, times/2) // Go's scheduler prefers another one now and then
}
