package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted is a poller that counts what wakes a thread.
type counted struct {
	poller
	kicks, rouses, dozes, alarms, left atomic.Int32
	attended                           atomic.Bool
}

func (p *counted) kick()  { p.kicks.Add(1); p.poller.kick() }
func (p *counted) rouse() { p.rouses.Add(1); p.poller.rouse() }
func (p *counted) doze() bool {
	p.dozes.Add(1)
	return p.poller.doze()
}

func (p *counted) alarm(after int64) {
	p.alarms.Add(1)
	p.poller.alarm(after)
}

func (p *counted) attend(on bool) bool {
	p.attended.Store(on)
	if !on {
		p.left.Add(1)
	}
	return p.poller.attend(on)
}

func (p *counted) wakes() int { return int(p.kicks.Load() + p.rouses.Load()) }

// deaf is a poller of a system that has no room for what has descriptors end the doze.
type deaf struct {
	poller
	refusals atomic.Int32
	room     atomic.Bool
}

func (p *deaf) attend(on bool) bool {
	if on && !p.room.Load() {
		p.refusals.Add(1)
		return false
	}
	return p.poller.attend(on)
}

// What comes is noticed all the same, while the program computes, and where the background goroutine waits in place of others.
// As soon as there is room the background goroutine sleeps again.
func TestDescriptorsThatCanNotEndADoze(t *testing.T) {
	e, system := newEngineOn(t, Options{Crowded: true, Throng: true}, func(p poller) *deaf { return &deaf{poller: p} })
	p := newPair(t, e)
	e.untilBackground(t)
	for n := range 3 {
		p.send()
		e.until(t, "the background goroutine has read it", func() bool { return p.bytes == n+1 })
	}
	waits := &flag{}
	p.then = func() { waits.set(e) }
	over := make(chan error, 1)
	go func() { over <- e.waitFor(watchdog(t), waits, nil) }()
	e.until(t, "the waiter rests", func() bool { return waits.waiter != nil && e.holder == &e.background.waiter && e.blocked })
	p.send()
	require.NoError(t, <-over)
	require.Positive(t, system.refusals.Load())

	system.room.Store(true)
	e.until(t, "there is room again", func() bool { return e.holder == &e.background.waiter && e.blocked && !e.background.deaf })
	refusals := system.refusals.Load()
	p.send()
	e.until(t, "it is read", func() bool { return p.bytes == 5 })
	require.Equal(t, refusals, system.refusals.Load())
}

// simulateCounted runs a test on a simulated engine whose background goroutine has the role.
func simulateCounted(t *testing.T, f func(t *testing.T, e *Engine, p *counted)) {
	synctest.Test(t, func(t *testing.T) {
		p := &counted{poller: newSimulated()}
		e := start(Options{Simulated: true}, p)
		defer e.Close()
		pass(time.Second)
		e.Lock()
		require.Same(t, &e.background.waiter, e.holder)
		require.True(t, p.attended.Load())
		e.Unlock()
		f(t, e, p)
	})
}

// Whoever takes the role from the background goroutine is about to send, or to wait: a thread
// that wakes now would fight with it for the lock and the processor.
func TestEvictionWakesNobody(t *testing.T) {
	for name, poll := range map[string]func(t *testing.T, e *Engine){
		"by a poll": func(_ *testing.T, e *Engine) { e.Poll(nil) },
		"by a wait": func(t *testing.T, e *Engine) {
			f := &flag{}
			require.NoError(t, e.Wait(t.Context(), f, &counter{at: func(int) bool { f.set(e); return true }}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulateCounted(t, func(t *testing.T, e *Engine, p *counted) {
				for range 5 {
					dozes := p.dozes.Load()
					e.Lock()
					poll(t, e)
					require.Nil(t, e.holder)
					require.False(t, p.attended.Load())
					e.Unlock()
					pass(longTick - 1)
					require.Equal(t, dozes, p.dozes.Load(), "nor does the tick before it is due")
					pass(2 * longTick << maxCalm)
					e.Lock()
					require.Same(t, &e.background.waiter, e.holder, "it has the role again")
					require.True(t, p.attended.Load())
					e.Unlock()
				}
				require.Zero(t, p.wakes())
			})
		})
	}
}

// A background goroutine that wakes after it lost the role leaves the lock alone.
func TestSentryOffDutyLeavesTheLockAlone(t *testing.T) {
	simulateCounted(t, func(t *testing.T, e *Engine, p *counted) {
		e.Lock()
		defer e.Unlock()
		e.Poll(nil)
		dozes := p.dozes.Load()
		p.rouse()
		synctest.Wait()
		require.Equal(t, dozes+1, p.dozes.Load(), "it dozes again though the lock is held")
	})
}

// A doze that began before a timer was set ends in time for it.
func TestTimersWhileTheSentryDozes(t *testing.T) {
	for name, before := range map[string]func(e *Engine){
		"set while it has the role": func(*Engine) {},
		"set while it has not":      func(e *Engine) { e.Poll(nil) },
		"set while a later one is":  func(e *Engine) { e.After(time.Minute, func() {}); e.Poll(nil) },
		"set after an earlier one": func(e *Engine) {
			e.After(10*time.Millisecond, func() {})
			e.Poll(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulateCounted(t, func(t *testing.T, e *Engine, _ *counted) {
				const d = 3 * time.Second
				var fired int64
				e.Lock()
				before(e)
				from := e.Now()
				e.After(d, func() { fired = e.Now() })
				e.Unlock()
				pass(time.Second) // it has the role, and dozes
				pass(d)
				require.Equal(t, int64(d), fired-from)
			})
		})
	}
}

// A kick that came as its waiter left on its own is nobody's: it must not keep the background
// goroutine from sleeping.
func TestKickThatNobodyNeeds(t *testing.T) {
	e := newEngine(t, Options{})
	e.untilBackground(t)
	e.Lock()
	e.Poll(nil)
	e.poller.kick()
	e.Unlock()
	e.untilBackground(t)
	e.Lock()
	defer e.Unlock()
	require.Zero(t, e.poller.wait(e.events[:], 1), "the next to wait is not woken by it")
}

// A program that looks at its requests less often than the background goroutine would leaves the
// role to that goroutine between its looks.
func TestSeldomPollsLeaveTheRole(t *testing.T) {
	for _, pause := range []time.Duration{2 * longTick, 5 * longTick, 20 * longTick, 150 * longTick} {
		t.Run(pause.String(), func(t *testing.T) {
			simulate(t, func(t *testing.T, e *Engine) {
				e.Lock()
				e.calm = maxCalm // it polled often until now
				e.armTick(false)
				e.Unlock()
				taken := 0
				for range 100 {
					e.Lock()
					if e.holder == &e.background.waiter {
						taken++
					}
					e.Poll(nil)
					e.Unlock()
					pass(pause)
				}
				require.Greater(t, taken, 60)
			})
		})
	}
}

func TestCloseWhileTheSentryDozesOffDuty(t *testing.T) {
	simulateCounted(t, func(t *testing.T, e *Engine, _ *counted) {
		e.Lock()
		e.Poll(nil)
		e.Unlock()
		e.Close()
	})
}

// A tick that is due while the lock is taken does not ask for it: whoever has it would have to let go
// of it, in the midst of its sends.
func TestTickIsPutOffWhileSomebodyWorks(t *testing.T) {
	e, p := newEngineOn(t, Options{}, func(inner poller) *counted { return &counted{poller: inner} })
	e.Lock()
	defer e.Unlock()
	e.Busy(1)
	defer e.Busy(-1)
	dozes := p.dozes.Load()
	deadline := time.Now().Add(patience)
	for p.dozes.Load() < dozes+3 && e.contended.Load() == 0 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	require.Zero(t, e.contended.Load())
	require.True(t, e.tickArmed)
}

// The background goroutine wakes for a timer, waits for the lock, and meanwhile loses the role to somebody who gives it up
// again: the tick that was armed before, for later than the timer, still comes.
func TestTickAfterALostRole(t *testing.T) {
	e, p := newEngineOn(t, Options{}, func(inner poller) *counted { return &counted{poller: inner} })
	e.untilBackground(t)
	e.Lock()
	dozes := p.dozes.Load()
	e.After(longTick<<(maxCalm-3), func() {})
	e.Unlock()
	e.until(t, "it knows of the timer", func() bool { return p.dozes.Load() > dozes })
	e.Lock()
	e.calm = maxCalm
	e.Flush(&deferral{e: e}) // arms a tick
	require.True(t, e.tickArmed)
	for e.contended.Load() == 0 {
		runtime.Gosched()
	}
	e.Poll(nil)
	require.Nil(t, e.holder)
	e.Unlock()
	e.untilBackground(t)
}

// What is held back goes out, however often its tick was put off.
// interfering is a poller during whose next alarm somebody arms a tick that comes sooner.
type interfering struct {
	poller
	meanwhile func()
	last      int64 // what the clock is set to
}

func (p *interfering) now() int64 { return 1 }

func (p *interfering) alarm(after int64) {
	if f := p.meanwhile; f != nil {
		p.meanwhile = nil
		f()
	}
	p.last = after
}

// A tick that is armed while another one is put off comes in time.
func TestTickArmedWhileAnotherIsPutOff(t *testing.T) {
	const soon = 1000
	p := &interfering{poller: newSimulated()}
	e := &Engine{poller: p, opts: Options{Tick: time.Millisecond}} // without its goroutine, in whose place the test is
	e.background.tick.Store(1)                                     // it is due
	p.meanwhile = func() {
		e.background.tick.Store(1 + soon)
		e.setAlarm()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	require.False(t, e.comeOnDuty())
	require.Nil(t, p.meanwhile)
	require.EqualValues(t, soon, p.last)
}

// A waiter that gives the background goroutine the role sets the alarm for timers. If the goroutine has just taken its place, for a
// tick that is far off, it sets that of timers again.
func TestRoleGivenWhileATickIsAwaited(t *testing.T) {
	p := &interfering{poller: newSimulated()}
	e := &Engine{poller: p, opts: Options{Throng: true}} // without its goroutine, in whose place the test is
	e.background.tick.Store(int64(time.Hour))
	p.meanwhile = func() {
		e.takeOver()
		e.setAlarm()
	}
	require.True(t, e.comeOnDuty())
	e.Unlock()
}

func TestTickThatWasPutOffComes(t *testing.T) {
	e, p := newEngineOn(t, Options{}, func(inner poller) *counted { return &counted{poller: inner} })
	d := &deferral{e: e}
	e.Lock()
	e.Flush(d)
	for dozes := p.dozes.Load(); p.dozes.Load() < dozes+3; {
		runtime.Gosched()
	}
	require.Zero(t, d.flushed)
	e.Unlock()
	e.until(t, "it is flushed", func() bool { return d.flushed == 1 })
}

// What comes first after a rest is left alone for a moment: its receiver may be about to ask for it.
// What something under way waits for is not.
func TestFirstMessageAfterARest(t *testing.T) {
	e, p := newEngineOn(t, Options{}, func(inner poller) *counted { return &counted{poller: inner} })
	pr := newPair(t, e)
	for busy, left := range []int32{1, 0} {
		e.Lock()
		e.Busy(busy)
		e.Unlock()
		e.untilBackground(t)
		e.until(t, "it has rested", func() bool { return e.poller.now() > e.background.active+2*quietFor })
		before := p.left.Load()
		pr.send()
		e.until(t, "it has come", func() bool { return pr.bytes == busy+1 })
		require.Equal(t, left, p.left.Load()-before)
		e.untilBackground(t)
		require.True(t, p.attended.Load())
		e.Lock()
		e.Busy(-busy)
		e.Unlock()
	}
}

// Go's scheduler wakes a thread whenever it is let in.
func TestGoIsLetInSeldom(t *testing.T) {
	e := newEngine(t, Options{})
	e.Lock()
	defer e.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	letIn := func() (n int) {
		e.letIn = 0
		for from := e.poller.now(); e.poller.now() < from+4*goschedEvery; {
			if e.othersWait() {
				n++
			}
		}
		return n
	}
	atOnce := func() bool {
		e.letIn = e.poller.now()
		return e.othersWait()
	}
	require.LessOrEqual(t, letIn(), 5)
	require.NotZero(t, letIn())
	e.Helpers(1)
	require.True(t, atOnce(), "goroutines on which waiters depend")
	e.Helpers(-1)
	runtime.GOMAXPROCS(1)
	letIn()
	require.True(t, atOnce(), "others have nowhere else to run")
}

// Who keeps the lock while it waits for other processes has them not disturbed by the ticks of this one.
func TestNoTicksWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &counted{poller: newSimulated()}
		e := start(Options{Simulated: true}, p)
		defer e.Close()
		e.Lock()
		e.Pause()
		ran := false
		e.Post(func() { ran = true })
		pass(time.Minute)
		assert.LessOrEqual(t, p.dozes.Load(), int32(3))
		assert.False(t, ran)
		e.Resume()
		e.Unlock()
		pass(time.Second)
		require.True(t, ran)
		e.Lock()
		require.Same(t, &e.background.waiter, e.holder)
		e.Unlock()
	})
}
