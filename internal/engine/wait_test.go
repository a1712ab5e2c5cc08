package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spins are the two ways to wait: parked at once, and never.
var spins = map[string]time.Duration{"parking": 0, "spinning": time.Hour}

func TestRoleIsHandedOn(t *testing.T) {
	for name, spin := range spins {
		t.Run(name, func(t *testing.T) {
			const waiters, rounds = 12, 20
			e := newEngine(t, Options{Spin: spin})
			ctx := watchdog(t)
			pairs := make([]*pair, waiters)
			flags := make([]*flag, waiters)
			for i := range pairs {
				pairs[i] = newPair(t, e)
				pairs[i].then = func() { flags[i].set(e) }
			}
			for range rounds {
				var all sync.WaitGroup
				for i := range flags {
					e.Lock()
					flags[i] = &flag{}
					e.Unlock()
					all.Go(func() { assert.NoError(t, e.waitFor(ctx, flags[i], &counter{})) })
				}
				for _, i := range rand.Perm(waiters) {
					pairs[i].send()
				}
				all.Wait()
			}
			e.Lock()
			defer e.Unlock()
			require.Zero(t, e.queue)
			require.True(t, e.holder == nil || e.holder == &e.background.waiter)
		})
	}
}

func TestWaitOfWhatIsDone(t *testing.T) {
	e := newEngine(t, Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	source := &counter{}
	require.NoError(t, e.waitFor(ended, &flag{done: true}, source))
	require.ErrorIs(t, e.waitFor(ended, &flag{}, source), context.Canceled)
	require.Zero(t, source.polls)
}

// With a wait that ends at the first poll, over and over, the rest of the world
// must not starve: descriptors and timers of others.
func TestShortWaitsLookAtDescriptors(t *testing.T) {
	e := newEngine(t, Options{Spin: time.Hour})
	p := newPair(t, e)
	fired := false
	e.Lock()
	e.After(0, func() { fired = true })
	e.Unlock()
	p.send()
	e.Lock()
	e.looked = e.poller.now() - e.lookAfter // the last look was so long ago
	e.Unlock()
	for range clockPolls {
		f := &flag{}
		source := &counter{at: func(int) bool {
			f.set(e)
			return true
		}}
		require.NoError(t, e.waitFor(t.Context(), f, source))
	}
	e.Lock()
	defer e.Unlock()
	require.Equal(t, 1, p.bytes)
	require.True(t, fired)
}

func TestWaiterStealsFromBackground(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	for range 20 {
		e.untilBackground(t)
		f := &flag{}
		e.Lock()
		p.then = func() { f.set(e) }
		var polls int
		source := &counter{at: func(n int) bool {
			if polls = n; n == 1 {
				// Polled within the call, before the background goroutine knows.
				assert.NotSame(t, &e.background.waiter, e.holder)
				p.send()
			}
			return false
		}}
		require.NoError(t, e.Wait(watchdog(t), f, source))
		e.Unlock()
		require.NotZero(t, polls)
	}
}

func TestPollStealsFromBackground(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	for i := range 20 {
		e.untilBackground(t)
		e.Lock()
		p.send()
		e.Poll(nil)
		require.Equal(t, i+1, p.bytes)
		require.Nil(t, e.holder)
		e.Unlock()
	}
}

func TestContextEnds(t *testing.T) {
	for name, spin := range spins {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: spin})
			ctx, cancel := context.WithCancel(t.Context())
			f := &flag{}
			source := &counter{at: func(n int) bool {
				if n == 1 {
					cancel()
				}
				return false
			}}
			require.ErrorIs(t, e.waitFor(ctx, f, source), context.Canceled)
			require.Nil(t, f.waiter)
		})
		t.Run(name+" busily", func(t *testing.T) {
			e := newEngine(t, Options{Spin: spin})
			ctx, cancel := context.WithCancel(t.Context())
			source := &counter{at: func(n int) bool {
				if n == 1 {
					cancel()
				}
				return true // always something to do
			}}
			require.ErrorIs(t, e.waitFor(ctx, &flag{}, source), context.Canceled)
		})
		t.Run("queued behind one "+name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: spin})
			var first flag
			var all sync.WaitGroup
			all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &first, nil)) })
			e.until(t, "a waiter has the role", func() bool { return e.holder != nil && e.holder != &e.background.waiter })
			ctx, cancel := context.WithCancel(t.Context())
			var second flag
			all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, &second, nil), context.Canceled) })
			e.until(t, "another is queued", func() bool { return e.queue.first != nil })
			cancel()
			e.until(t, "it has gone", func() bool { return e.queue.first == nil })
			e.Lock()
			first.set(e)
			e.Unlock()
			all.Wait()
		})
	}
	t.Run("parked", func(t *testing.T) {
		e := newEngine(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var f flag
		var all sync.WaitGroup
		all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, &f, nil), context.Canceled) })
		e.until(t, "the waiter is blocked", func() bool { return e.blocked && f.waiter != nil })
		cancel()
		all.Wait()
	})
}

// A condition may come true as the context ends. Either may win, and the wait says
// which. A waiter that was told to give up does not do so in the next wait that uses
// it.
func TestContextEndsAtTheSameTime(t *testing.T) {
	for name, spin := range spins {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: spin})
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 200 {
						ctx, cancel := context.WithCancel(watchdog(t))
						f := &flag{}
						var both sync.WaitGroup
						both.Go(cancel)
						both.Go(func() {
							e.Lock()
							f.set(e)
							e.Unlock()
						})
						e.Lock()
						err := e.Wait(ctx, f, nil)
						assert.Equal(t, f.done, err == nil)
						assert.Nil(t, f.waiter)
						e.Unlock()
						both.Wait()
					}
				})
			}
			all.Wait()
		})
	}
}

// One who is handed the role just as its context ends passes it on.
func TestHandedRoleToOneWhoseContextEnds(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	for range 100 {
		var first, second, third flag
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &first, nil)) })
		e.until(t, "the first has the role", func() bool { return e.blocked && first.waiter != nil })
		all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, &second, nil), context.Canceled) })
		e.until(t, "the second is queued", func() bool { return second.waiter != nil })
		all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &third, nil)) })
		e.until(t, "the third is queued", func() bool { return third.waiter != nil })
		e.Lock()
		p.then = func() { third.set(e) }
		first.set(e)
		go cancel()
		e.Unlock()
		p.send() // reaches the third only by who has the role
		all.Wait()
	}
}

// Many goroutines wake each other in a ring, while the background goroutine
// takes the role as often as it can, others poll, and descriptors have events.
func TestNoWakeUpIsLost(t *testing.T) {
	for name, opts := range map[string]Options{
		"parking":     {Tick: 1},
		"spinning":    {Tick: 1, Spin: time.Hour},
		"a little":    {Tick: 1, Spin: 5 * time.Microsecond},
		"in a throng": {Tick: 1, Spin: 5 * time.Microsecond, Crowded: true, Throng: true},
	} {
		t.Run(name, func(t *testing.T) { passRound(t, newEngine(t, opts)) })
		t.Run(name+", beside one that polls", func(t *testing.T) {
			e := newEngine(t, opts)
			var over atomic.Bool
			var polling sync.WaitGroup
			polling.Go(func() {
				for !over.Load() {
					e.Lock()
					e.pollOften(&counter{})
					e.Unlock()
					runtime.Gosched()
				}
			})
			passRound(t, e)
			over.Store(true)
			polling.Wait()
		})
	}
}

// passRound has some goroutines wake each other in a ring.
func passRound(t *testing.T, e *Engine) {
	const members, rounds = 6, 150
	ctx := watchdog(t)
	p := newPair(t, e)
	var ring [members]*flag
	e.Lock()
	e.Busy(1)
	for i := range ring {
		ring[i] = &flag{}
	}
	e.Unlock()
	pass := func(next int) { // the lock is held
		ring[next].set(e)
	}
	p.then = func() { pass(0) }
	var all sync.WaitGroup
	for i := range ring {
		all.Go(func() {
			for range rounds {
				if !assert.NoError(t, e.waitFor(ctx, ring[i], nil), "member %d", i) {
					return
				}
				e.Lock()
				ring[i] = &flag{}
				next := (i + 1) % members
				switch {
				case next == 0:
					p.send() // by way of the descriptor
				case i%2 == 0:
					e.Poll(nil)
					pass(next)
				default:
					e.After(0, func() { pass(next) })
				}
				e.Unlock()
				if i == 0 {
					posted := make(chan struct{})
					e.Post(func() { close(posted) })
					<-posted
				}
			}
		})
	}
	p.send()
	all.Wait()
	e.Lock()
	e.Busy(-1)
	e.Unlock()
}

func TestCollectorRunsWhileWaitersSpin(t *testing.T) {
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprint("processors ", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			e := newEngine(t, Options{Spin: time.Hour})
			var all sync.WaitGroup
			var first, second flag
			source := &counter{at: func(int) bool {
				e.yields = penalty{} // however busy the machine is
				return false
			}}
			all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &first, source)) })
			e.until(t, "a waiter spins", func() bool { return source.polls > 100 })
			all.Go(func() { assert.NoError(t, e.waitFor(watchdog(t), &second, nil)) })
			for range 2 {
				runtime.GC()
			}
			e.Lock()
			first.set(e)
			second.set(e)
			e.Unlock()
			all.Wait()
		})
	}
}

func TestOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, spin := range spins {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: spin})
			p := newPair(t, e)
			for range 20 {
				e.untilBackground(t)
				f := &flag{}
				e.Lock()
				p.then = func() { f.set(e) }
				e.Unlock()
				go p.send()
				require.NoError(t, e.waitFor(watchdog(t), f, &counter{}))
			}
		})
	}
}

func TestWaitWithinUpcallPanics(t *testing.T) {
	e := newEngine(t, Options{})
	e.Lock()
	defer e.Unlock()
	panicked := false
	e.After(0, func() {
		defer func() { panicked = recover() != nil }()
		_ = e.Wait(context.Background(), &flag{}, nil)
	})
	e.Poll(nil)
	require.True(t, panicked)
}

func TestWaitsDoNotAllocate(t *testing.T) {
	e := newEngine(t, Options{Spin: time.Hour})
	ctx := watchdog(t) // one that can end
	f := &flag{}
	source := &counter{at: func(n int) bool {
		f.done = n%5 == 0
		e.yields = penalty{} // however busy the machine is
		return false
	}}
	e.Lock()
	defer e.Unlock()
	allocated := testing.AllocsPerRun(1000, func() {
		f.done = false
		if err := e.Wait(ctx, f, source); err != nil {
			t.Fatal(err)
		}
	})
	require.Zero(t, allocated)
}

// While goroutines of a transport produce what is waited for, a slow yield is no reason to
// park.
func TestHelpersKeepAWaiterFromParking(t *testing.T) {
	e := newEngine(t, Options{Spin: time.Hour})
	penalize := func(helpers int) {
		e.Lock()
		e.Helpers(helpers)
		e.yields = penalty{length: time.Hour, until: math.MaxInt64}
		e.Unlock()
	}
	penalize(1)
	const polls = 4 * quickPolls
	f := &flag{}
	source := &counter{at: func(n int) bool {
		if n == polls {
			f.set(e)
		}
		return false
	}}
	require.NoError(t, e.waitFor(watchdog(t), f, source))
	require.Zero(t, f.parked)

	penalize(-1)
	ctx, cancel := context.WithCancel(t.Context())
	f, done := &flag{}, make(chan error)
	go func() { done <- e.waitFor(ctx, f, &counter{}) }()
	e.until(t, "the waiter parks", func() bool { return f.parked > 0 })
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// Where yields take long a waiter polls for a moment and parks, without an offer. Where who is to send mostly has no processor it parks at once.
func TestAMomentBeforeParking(t *testing.T) {
	parks := func(t *testing.T, penalized penalty, crowded bool) (polls int, took int64) {
		e, p := newEngineOn(t, Options{Spin: time.Hour, Stay: true, Crowded: crowded},
			func(p poller) *stepper { return &stepper{poller: p, step: quickSpin / 16} })
		e.background.tick.Store(forever) // nobody else looks at the clock
		e.Lock()
		e.yields = penalized
		e.Unlock()
		ctx, cancel := context.WithCancel(watchdog(t))
		f, source := &flag{}, &counter{}
		var all sync.WaitGroup
		began := p.clock.Load()
		all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, f, source), context.Canceled) })
		e.until(t, "the waiter parks", func() bool { return f.parked > 0 })
		e.Lock()
		polls, took = source.polls, p.clock.Load()-began
		require.Zero(t, e.yields.good, "the processor was offered")
		e.Unlock()
		cancel()
		all.Wait()
		return polls, took
	}
	slow := penalty{length: time.Hour, until: math.MaxInt64}
	t.Run("others compute", func(t *testing.T) {
		polls, took := parks(t, slow, false)
		require.Greater(t, polls, memoryPolls)
		require.Greater(t, took, quickSpin)
		require.Less(t, took, 4*quickSpin)
	})
	t.Run("in a crowd", func(t *testing.T) {
		polls, _ := parks(t, slow, true)
		require.LessOrEqual(t, polls, crowdPolls)
	})
	t.Run("for a rank of this process", func(t *testing.T) {
		newEngine(t, Options{})
		polls, _ := parks(t, slow, false)
		require.LessOrEqual(t, polls, crowdPolls)
	})
	t.Run("on the only processor", func(t *testing.T) {
		slow.bound = true
		polls, _ := parks(t, slow, false)
		require.LessOrEqual(t, polls, crowdPolls)
	})
}

func TestPenalty(t *testing.T) {
	p := penalty{good: quickBetween}
	clock := int64(1)
	now := func() int64 { return clock }
	require.False(t, p.mustPark(now))
	p.observe(clock, slowYield+1)
	require.False(t, p.mustPark(now), "one slow yield")
	p.observe(clock, slowYield+1)
	require.True(t, p.mustPark(now), "two in a row")
	clock += int64(firstPenalty) - 1
	require.True(t, p.mustPark(now))
	clock++
	require.False(t, p.mustPark(now))
	for range 20 {
		p.observe(clock, slowYield+1)
	}
	require.Equal(t, clock+int64(maxPenalty), p.until, "bounded")
	clock += int64(maxPenalty)
	require.False(t, p.mustPark(now))
	for range goodYields {
		p.observe(clock, 1)
	}
	for range 2 {
		p.observe(clock, slowYield+1)
	}
	require.Equal(t, clock+int64(firstPenalty), p.until, "forgiven")
	clock += 9 * int64(firstPenalty)
	p.observe(clock, slowYield+1)
	require.Equal(t, clock+int64(firstPenalty), p.until, "long ago")
}

// Who may use one processor only parks sooner: a peer that is bound to it too gives it back late.
func TestPenaltyOfWhoIsBound(t *testing.T) {
	for _, bound := range []bool{false, true} {
		p := penalty{bound: bound}
		for range 2 {
			p.observe(1, boundYield+1)
		}
		require.Equal(t, bound, p.mustPark(func() int64 { return 1 }))
	}
}

// A waiter polls for a while before it offers its processor, if nobody else has lately wanted that.
func TestAWaiterThatIsAlonePollsForAWhile(t *testing.T) {
	if engines.Load() > 0 {
		t.Fatal("an engine of an earlier test is left")
	}
	e := &Engine{opts: Options{Spin: time.Hour}}
	const many = 100 * quickPolls
	require.True(t, e.quick(many, 0))
	e.clock = quickSpin
	require.False(t, e.quick(many, 0))
	require.True(t, e.quick(quickPolls-1, 0))
	require.True(t, e.quick(many, 1))

	e.yields.observe(0, sharedYield+1)
	require.True(t, e.quick(many, 1), "somebody was there for a moment")
	e.yields.observe(0, sharedYield)
	e.yields.observe(0, sharedYield+1)
	require.True(t, e.quick(many, 1), "for another one")
	e.yields.observe(0, sharedYield+1)
	for range quickBetween {
		require.False(t, e.quick(many, 1), "somebody else was there")
		require.True(t, e.quick(quickPolls-1, 1))
		e.yields.observe(0, sharedYield)
	}
	require.True(t, e.quick(many, 1))

	e.opts.Spin = time.Duration(quickSpin / 2)
	e.clock = quickSpin / 2
	require.False(t, e.quick(many, 0), "a waiter that is to park sooner")
	e.opts.Spin = 0
	require.False(t, e.quick(1, 1))
}
