package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// simulate runs a test on a simulated engine, whose time is virtual.
func simulate(t *testing.T, f func(t *testing.T, e *Engine)) { simulateWith(t, Options{}, f) }

func simulateWith(t *testing.T, opts Options, f func(t *testing.T, e *Engine)) {
	opts.Simulated = true
	synctest.Test(t, func(t *testing.T) {
		e, err := New(opts)
		require.NoError(t, err)
		defer e.Close()
		f(t, e)
	})
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// deferral is frames held back.
type deferral struct {
	flushed int
	at      int64
	e       *Engine
	again   bool // holds back more when it is flushed
}

func (d *deferral) Flush() {
	d.flushed++
	d.at = d.e.Now()
	if d.again {
		d.again = false
		d.e.Flush(d)
	}
}

// module counts its calls.
type module struct {
	calls int
	first int64 // time of the first
	e     *Engine
}

func (m *module) Progress() bool {
	if m.calls++; m.calls == 1 {
		m.first = m.e.Now()
	}
	return false
}

func TestFlushWithinATick(t *testing.T) {
	for name, background := range map[string]bool{"nobody has the role": false, "the background goroutine has it": true} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				if background {
					pass(time.Second)
				}
				e.Lock()
				require.Equal(t, background, e.holder == &e.background.waiter)
				d := &deferral{e: e, again: true}
				from := e.Now()
				e.Flush(d)
				require.Zero(t, d.flushed)
				e.Unlock()
				pass(2 * e.opts.Tick)
				e.Lock()
				defer e.Unlock()
				require.Equal(t, 2, d.flushed)
				require.LessOrEqual(t, d.at-from, 2*int64(e.opts.Tick))
			})
		})
	}
}

func TestFlushAtNextPoll(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		e.Lock()
		defer e.Unlock()
		d := &deferral{e: e, again: true}
		e.Flush(d)
		require.Zero(t, d.flushed)
		e.polling = true
		e.pollModules()
		require.Equal(t, 1, d.flushed, "what is held back while others go waits for the next poll")
		e.polling = false
		e.Poll(nil)
		require.Equal(t, 2, d.flushed)
		e.Poll(nil)
		require.Equal(t, 2, d.flushed)
	})
}

// Frames that a wait's last poll held back go when the wait ends, as the program may compute then.
// Frames that may go with the program's answer do not. The answer waits behind neither.
func TestEndOfAWaitIsANewRound(t *testing.T) {
	for name, wait := range map[string]func(*Engine, *flag, func()){
		"wait": func(e *Engine, f *flag, last func()) {
			_ = e.Wait(context.Background(), f, &counter{at: func(int) bool { last(); f.set(e); return true }})
		},
		"poll": func(e *Engine, _ *flag, last func()) {
			e.Poll(&counter{at: func(int) bool { last(); return true }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				e.Lock()
				defer e.Unlock()
				at, patient := &deferral{e: e}, &deferral{e: e}
				var epoch uint64
				wait(e, &flag{}, func() {
					epoch = e.Epoch()
					e.Flush(at)
					e.FlushLater(patient)
				})
				require.Equal(t, 1, at.flushed)
				require.Zero(t, patient.flushed)
				require.NotEqual(t, epoch, e.Epoch())
				e.Poll(nil)
				require.Equal(t, 1, patient.flushed)
				require.Equal(t, 1, at.flushed)
			})
		})
	}
}

// A program that polls now and then sees what has come for others than the last sender, too.
func TestSeldomPollsLookAtDescriptors(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	source := &counter{}
	for n := range 20 {
		e.Lock()
		p.send()
		e.looked = e.poller.now() - e.lookAfter // the last look was so long ago
		e.Poll(source)
		require.Equal(t, n+1, p.bytes)
		e.Unlock()
	}
}

// A program that has exchanged messages with one rank for long, and polls each 5 or 20 ms from then
// on, sees what another one has sent at its next poll.
func TestSeldomPollsAfterMuchTalk(t *testing.T) {
	for _, pause := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
		e := newEngine(t, Options{Spin: patience})
		talker, other := newPair(t, e), newPair(t, e)
		e.Lock()
		talker.setAside(t)
		for n := range 10 {
			other.send()
			e.looked = e.poller.now() - int64(pause) // the last poll was so long ago
			e.Poll(own{talker})
			require.Equal(t, n+1, other.bytes)
		}
		e.Unlock()
	}
}

func TestFlushWhileAWaiterIsParked(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		var f flag
		done := make(chan error)
		go func() { done <- e.waitFor(t.Context(), &f, nil) }()
		synctest.Wait()
		e.Lock()
		require.NotNil(t, f.waiter)
		d := &deferral{e: e}
		from := e.Now()
		e.Flush(d)
		e.Unlock()
		synctest.Wait()
		require.Equal(t, 1, d.flushed)
		require.Equal(t, from, d.at)
		e.Lock()
		f.set(e)
		e.Unlock()
		require.NoError(t, <-done)
	})
}

func TestBusyIsSeenToSooner(t *testing.T) {
	firstPoll := func(t *testing.T, busy int) (after time.Duration) {
		simulate(t, func(t *testing.T, e *Engine) {
			m := &module{e: e}
			e.Lock()
			e.AddProgressor(m)
			from := e.Now()
			e.Busy(busy)
			e.Unlock()
			pass(time.Second)
			after = time.Duration(m.first - from)
		})
		return after
	}
	require.Equal(t, 200*time.Microsecond, firstPoll(t, 1))
	require.Equal(t, longTick, firstPoll(t, 0))
}

// call is one of the program's that does nothing.
func call(e *Engine) {
	e.Lock()
	defer e.Unlock()
}

// While the program begins one send after the other a tick polls once. The background goroutine does not stay, for a moment.
func TestTicksWhileCallsGoOn(t *testing.T) {
	for name, goOn := range map[string]bool{"no call comes any more": false, "calls come": true} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				m := &module{e: e}
				e.Lock()
				e.AddProgressor(m)
				e.Busy(1)
				e.Unlock()
				defer e.Busy(-1)
				for tick := 1; ; tick++ {
					for range goingOn {
						if goOn {
							call(e)
						}
					}
					pass(e.opts.Tick)
					e.Lock()
					polls, stays := m.calls, e.holder == &e.background.waiter
					e.Unlock()
					require.GreaterOrEqual(t, polls, tick, "each tick polls")
					if stays {
						require.Equal(t, goOn, tick > patientTicks)
						return
					}
					require.LessOrEqual(t, tick, patientTicks)
				}
			})
		})
	}
}

func TestBusyAfterAWait(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		pass(time.Second)
		e.Lock()
		e.Busy(1)
		e.Poll(nil)
		e.Unlock()
		pass(e.opts.Tick)
		e.Lock()
		defer e.Unlock()
		require.Same(t, &e.background.waiter, e.holder)
		e.Busy(-1)
	})
}

// A program that talks and computes by turns has what it leaves behind wait for long once, and not each time.
func TestTalkAndComputeByTurns(t *testing.T) {
	const turns, talk, compute = 20, 50 * time.Millisecond, 20 * time.Millisecond
	for name, leave := range map[string]func(e *Engine, d *deferral) (done func()){
		"frames held back": func(e *Engine, d *deferral) func() {
			e.Flush(d)
			return func() {}
		},
		"an operation under way": func(e *Engine, d *deferral) func() {
			e.Busy(1)
			e.ClearProgressors()
			e.AddProgressor(once{d})
			return func() { e.Busy(-1); e.ClearProgressors() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				late := 0
				for range turns {
					for range talk / (100 * time.Microsecond) {
						e.Lock()
						e.Poll(nil)
						e.Unlock()
						pass(100 * time.Microsecond)
					}
					d := &deferral{e: e}
					e.Lock()
					from := e.Now()
					done := leave(e, d)
					e.Unlock()
					pass(compute)
					e.Lock()
					require.NotZero(t, d.flushed)
					if d.at-from > int64(longTick) {
						late++
					}
					done()
					e.Unlock()
				}
				require.LessOrEqual(t, late, 1)
			})
		})
	}
}

// once is work that the first poll does.
type once struct{ *deferral }

func (o once) Progress() bool {
	if o.flushed == 0 {
		o.Flush()
	}
	return false
}

// While anyone polls, the background goroutine stays out.
func TestBackgroundStaysOut(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		for range 1000 {
			e.Lock()
			require.Nil(t, e.holder)
			e.Poll(nil)
			e.Unlock()
			pass(longTick / 2)
		}
		pass(2 * longTick << maxCalm)
		e.Lock()
		require.Same(t, &e.background.waiter, e.holder)
		e.Unlock()
	})
}

// An idle engine does nothing at all: no poll in a day.
func TestIdleEngineSleeps(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		m := &module{e: e}
		e.Lock()
		e.AddProgressor(m)
		e.Unlock()
		pass(time.Second)
		e.Lock()
		require.True(t, e.blocked)
		require.False(t, e.tickArmed)
		polls := m.calls
		e.Unlock()
		pass(24 * time.Hour)
		require.Equal(t, polls, m.calls)
	})
	// The same of a real one, of which time tells nothing: it is blocked, and
	// nothing is armed that would wake it.
	e := newEngine(t, Options{})
	e.untilBackground(t)
	e.Lock()
	defer e.Unlock()
	require.False(t, e.tickArmed)
	require.Negative(t, e.untilTimer())
}

func TestNudgeBringsAPoll(t *testing.T) {
	simulate(t, func(t *testing.T, e *Engine) {
		m := &module{e: e}
		pass(time.Second) // the background goroutine is parked
		e.Lock()
		e.AddProgressor(m)
		e.Nudge()
		e.Unlock()
		synctest.Wait()
		require.NotZero(t, m.calls)
		e.Lock()
		e.ClearProgressors()
		m.calls = 0
		e.Nudge()
		e.Unlock()
		synctest.Wait()
		require.Zero(t, m.calls)
	})
}

func TestClose(t *testing.T) {
	for name, before := range map[string]func(*testing.T, *Engine){
		"at once":                               func(*testing.T, *Engine) {},
		"while the background goroutine sleeps": func(t *testing.T, e *Engine) { e.untilBackground(t) },
		"just after it lost the role": func(t *testing.T, e *Engine) {
			e.untilBackground(t)
			e.Lock()
			e.Poll(nil)
			e.Unlock()
		},
		"with a tick due": func(t *testing.T, e *Engine) {
			e.Lock()
			e.Busy(1)
			e.Unlock()
		},
		"twice": func(_ *testing.T, e *Engine) { e.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			for range 10 {
				e, err := New(Options{})
				require.NoError(t, err)
				before(t, e)
				e.Close()
				e.Post(func() { t.Error("this ran after the end") })
				e.Lock()
				e.Nudge()
				e.Unlock()
			}
		})
	}
	require.Zero(t, engines.Load())
}

// A waiter that was told that its condition is done may not have left the poller
// yet when the engine closes.
func TestCloseLetsWaitersLeave(t *testing.T) {
	leak.Check(t)
	for range 200 {
		e, err := New(Options{})
		require.NoError(t, err)
		var f flag
		done := make(chan error)
		go func() { done <- e.waitFor(t.Context(), &f, nil) }()
		e.until(t, "the waiter is parked", func() bool { return f.waiter != nil })
		e.Lock()
		f.set(e)
		e.Unlock()
		e.Close()
		require.NoError(t, <-done)
	}
}
