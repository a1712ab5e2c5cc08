package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// still is a poller whose clock stands still, so that no look is due for its sake.
type still struct {
	poller
	looks int
	later atomic.Int64 // than when it began; the background goroutine looks without the lock
}

func (p *still) now() int64 { return 1 + p.later.Load() }

func (p *still) wait(buf []event, timeout int64) int {
	if timeout == 0 {
		p.looks++
	}
	return p.poller.wait(buf, timeout)
}

// watchedSource is a source that has a descriptor.
type watchedSource struct {
	counter
	*pair
}

func (s *watchedSource) Poll() bool       { return s.counter.Poll() }
func (s *watchedSource) Watch() btl.Watch { return s.watch }

// prompter is a source whose wait is over with so many polls.
type prompter struct {
	flag
	polls, over int
}

func (p *prompter) Poll() bool {
	p.polls++
	p.done = p.polls == p.over
	return p.done
}

// idleModule counts how often it is asked.
type idleModule struct{ times int }

func (m *idleModule) Progress() bool { m.times++; return false }

// A wait that is soon over asks the source first, and the modules now and then, and wakes nobody.
func TestBriefWait(t *testing.T) {
	e, clock := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	module := &idleModule{}
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(module)
	for _, polls := range []int{1, modulesEvery, briefPolls, memoryPolls} {
		module.times, clock.looks, e.glances = 0, 0, 0
		p := &prompter{over: polls}
		require.NoError(t, e.Wait(watchdog(t), p, p))
		require.Equal(t, polls, p.polls)
		require.Equal(t, polls/modulesEvery, module.times)
		require.Zero(t, p.parked)
		require.Nil(t, e.idle, "a waiter was made")
		require.Nil(t, e.holder)
	}
	p := &prompter{over: memoryPolls + 1}
	require.NoError(t, e.Wait(watchdog(t), p, p))
	require.NotNil(t, e.idle)
}

// A wait is brief for fewer polls if each of them asks the system, or if others want the processor.
func TestAWaitIsBrieferWhereOthersWait(t *testing.T) {
	e, _ := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	own := newPair(t, e)
	e.Lock()
	defer e.Unlock()
	brief := func(polls int) bool {
		p := &prompter{over: polls}
		return e.Briefly(p, p)
	}
	require.True(t, brief(memoryPolls))
	require.False(t, brief(memoryPolls+1))
	p := &prompter{over: briefPolls + 1}
	require.False(t, e.Briefly(p, &watchedPrompter{p, own}))
	p = &prompter{over: briefPolls}
	require.True(t, e.Briefly(p, &watchedPrompter{p, own}))
	e.yields.shared++
	require.True(t, brief(briefPolls))
	require.False(t, brief(briefPolls+1))
	e.yields.shared--
	engines.Add(1) // another rank is a goroutine of this process
	defer engines.Add(-1)
	require.True(t, brief(briefPolls))
	require.False(t, brief(briefPolls+1))
}

// watchedPrompter is one with a descriptor of its own.
type watchedPrompter struct {
	*prompter
	pair *pair
}

func (w *watchedPrompter) Watch() btl.Watch { return w.pair.watch }

// Who waits for a moment only has the role no longer than that, and none where somebody else polls.
func TestBriefly(t *testing.T) {
	e, _ := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	e.Lock()
	defer e.Unlock()
	for _, polls := range []int{1, memoryPolls, memoryPolls + 1} {
		p := &prompter{over: polls}
		require.Equal(t, polls <= memoryPolls, e.Briefly(p, p))
		require.Zero(t, p.parked)
		require.Nil(t, e.holder)
	}
	p, other := &prompter{over: 1}, e.newWaiter()
	e.take(other)
	require.False(t, e.Briefly(p, p))
	require.Zero(t, p.polls)
	e.release(other)
}

// What is behind a frame that a look has found comes with the next polls, though the endpoint that is
// waited for brings nothing: not after the processor was given up for each. The source's own descriptor
// is no reason to look again.
func TestLooksGoOnWhileTheyFindSomething(t *testing.T) {
	e, clock := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	p := newPair(t, e)
	p.then = func() {
		if p.bytes < 5 {
			p.send()
		}
	}
	for _, source := range []btl.Poller{&counter{}, &watchedSource{pair: newPair(t, e)}, &watchedSource{pair: p}} {
		p.bytes, clock.looks = 0, 0
		p.send()
		e.Lock()
		e.looked, e.skipped = -e.lookAfter, clockPolls // the last look was so long ago
		for range 6 {
			e.poll(source)
		}
		found := e.found
		e.Unlock()
		if source, ok := source.(*watchedSource); ok && source.pair == p {
			require.Equal(t, 1, clock.looks)
		} else {
			require.Equal(t, 5, p.bytes)
			require.Equal(t, 6, clock.looks, "the last one has found nothing")
		}
		require.False(t, found)
	}
}

// In a crowd others have mostly sent by the time that a rank runs again. A source's own descriptor is no
// reason not to see to theirs.
func TestACrowdLooksAtAllDescriptors(t *testing.T) {
	for _, crowded := range []bool{true, false} {
		e, clock := newEngineOn(t, Options{Spin: time.Hour, Crowded: crowded}, func(p poller) *still { return &still{poller: p} })
		other, f := newPair(t, e), &flag{}
		other.then = func() { f.done = true }
		source := &watchedSource{pair: newPair(t, e)}
		source.at = func(polls int) bool {
			if polls > 10*crowdPolls {
				f.done = true
			}
			return false
		}
		e.Lock()
		e.looked, clock.looks = 1, 0
		other.send()
		require.NoError(t, e.Wait(watchdog(t), f, source))
		e.Unlock()
		if crowded {
			require.Less(t, source.counter.polls, crowdPolls)
			require.Equal(t, 1, clock.looks)
		} else {
			require.Equal(t, 10*crowdPolls+1, source.counter.polls)
			require.LessOrEqual(t, clock.looks, 1)
		}
	}
}

// slowLooks is a poller whose looks take so long, and whose clock shows nothing else.
type slowLooks struct {
	poller
	takes, clock int64
}

func (p *slowLooks) now() int64 { return p.clock }

func (p *slowLooks) wait([]event, int64) int {
	p.clock += p.takes
	return 0
}

// Where a look takes longer there are fewer of them, but not so few that what has come for others waits long.
func TestLooksTakeASmallShare(t *testing.T) {
	for takes, period := range map[int64]int64{0: soonestLook, 200: soonestLook, 1_000: 64_000, 5_000: latestLook, 1_000_000: latestLook} {
		require.Equal(t, period, lookPeriod(&slowLooks{takes: takes}), "%d ns", takes)
	}
}
