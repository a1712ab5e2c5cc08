package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stepper is a poller whose clock goes on by a step with every look at it.
type stepper struct {
	poller
	step  int64
	clock atomic.Int64
}

func (s *stepper) now() int64 { return s.clock.Add(s.step) }

// In a crowd a waiter has polled for progress_spin when it has done so itself. What others had of that
// time, as it gave the processor up, is not its own, unless they compute.
func TestTheTimeOfOthersIsNotSpun(t *testing.T) {
	// Half of the time passes between the two looks at the clock about each offer.
	const offers = 40
	pollsUntilParked := func(t *testing.T, step int64, crowded bool) int {
		e, _ := newEngineOn(t, Options{Spin: time.Duration(offers * step), Stay: true, Crowded: crowded},
			func(p poller) *stepper { return &stepper{poller: p, step: step} })
		e.Lock()
		e.Helpers(1)                     // so that slow offers alone do not make it park
		e.background.tick.Store(forever) // nobody else looks at the clock
		e.Unlock()
		ctx, cancel := context.WithCancel(watchdog(t))
		f, source := &flag{}, &counter{}
		var all sync.WaitGroup
		all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, f, source), context.Canceled) })
		e.until(t, "the waiter parks", func() bool { return f.parked > 0 })
		e.Lock()
		polls := source.polls
		e.Unlock()
		cancel()
		all.Wait()
		return polls
	}
	const most, crowd = memoryPolls + clockPolls + offers*3/4, crowdPolls + offers*3/4
	t.Run("others wait", func(t *testing.T) {
		require.Greater(t, pollsUntilParked(t, int64(crowdTurn)*2/5, true), crowd)
	})
	t.Run("others compute", func(t *testing.T) {
		require.Less(t, pollsUntilParked(t, int64(crowdTurn)+1, true), crowd)
	})
	t.Run("no crowd", func(t *testing.T) {
		require.Less(t, pollsUntilParked(t, int64(crowdTurn)*2/5, false), most)
	})
}

// In a crowd a waiter offers the processor after few empty polls.
func TestACrowdGivesWaySoon(t *testing.T) {
	offeredAfter := func(crowded bool) int {
		// Who has offered the processor once has polled for long enough: it parks at its next empty poll.
		e, p := newEngineOn(t, Options{Spin: 1, Stay: true, Crowded: crowded}, func(p poller) *stepper { return &stepper{poller: p} })
		e.background.tick.Store(forever)
		ctx, cancel := context.WithCancel(watchdog(t))
		f, source := &flag{}, &counter{at: func(int) bool { p.clock.Add(1); return false }}
		var all sync.WaitGroup
		all.Go(func() { assert.ErrorIs(t, e.waitFor(ctx, f, source), context.Canceled) })
		e.until(t, "the waiter parks", func() bool { return f.parked > 0 })
		e.Lock()
		polls := source.polls
		e.Unlock()
		cancel()
		all.Wait()
		return polls - 1
	}
	require.Equal(t, crowdPolls, offeredAfter(true))
	require.Equal(t, quickPolls, offeredAfter(false))
}

// In a crowd that talks a yield may take longer before it is a reason to park.
func TestPenaltyInACrowd(t *testing.T) {
	clock := int64(1)
	now := func() int64 { return clock }
	for turn, want := range map[time.Duration]time.Duration{0: crowdTurn, crowdTurn / 2: crowdTurn, 2 * crowdTurn: 2 * crowdTurn} {
		yields := newEngine(t, Options{Crowded: true, Turn: turn}).yields
		p := yields
		p.observe(clock, int64(want))
		p.observe(clock, int64(want))
		require.False(t, p.mustPark(now))
		p = yields
		p.observe(clock, int64(want)+1)
		p.observe(clock, int64(want)+1)
		require.True(t, p.mustPark(now))
	}
}

// Transports are told of a crowd.
func TestACrowdIsCounted(t *testing.T) {
	for _, crowded := range []bool{true, false} {
		require.Equal(t, crowded, newEngine(t, Options{Crowded: crowded}).Crowded())
	}
}

func TestACrowdStays(t *testing.T) {
	require.Nil(t, newEngine(t, Options{Crowded: true}).move)
}
