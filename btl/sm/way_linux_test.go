package sm

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

// Of each length the receiver wants what was sooner. The sender does that, and now and then the other, so that
// a change shows.
func TestChoice(t *testing.T) {
	var word atomic.Uint64
	c, a := choice{wants: &word}, appraisal{wants: &word}
	assert.False(t, c.lends(64<<10, false), "before it is known that the memory can be read")
	a.allow()
	send := func(size, frames int, lent, copied time.Duration) (lends int) {
		for range frames {
			if took := copied; c.lends(size, false) {
				lends++
				a.observe(size, int64(lent), true)
			} else {
				a.observe(size, int64(took), false)
			}
		}
		return lends
	}
	const most = seldomAgain + trial
	mostly := func(lent bool, lends int, why string) {
		t.Helper()
		if !lent {
			lends = most - lends
		}
		assert.Greater(t, lends, most*9/10, why)
		assert.Less(t, lends, most, "the other way is tried now and then")
	}
	assert.Zero(t, send(64<<10, soonAgain, 8*time.Microsecond, 12*time.Microsecond), "the first are copied")
	send(64<<10, trial, 8*time.Microsecond, 12*time.Microsecond)
	mostly(true, send(64<<10, most, 8*time.Microsecond, 12*time.Microsecond), "")
	send(1<<20, soonAgain+trial, 200*time.Microsecond, 140*time.Microsecond)
	mostly(false, send(1<<20, most, 200*time.Microsecond, 140*time.Microsecond), "")
	send(64<<10, seldomAgain, 8*time.Microsecond, 12*time.Microsecond)
	mostly(true, send(64<<10, most, 8*time.Microsecond, 12*time.Microsecond), "another length")
	send(64<<10, 64, 18*time.Microsecond, 12*time.Microsecond)
	mostly(false, send(64<<10, most, 18*time.Microsecond, 12*time.Microsecond), "things have changed")

	// What is a little sooner changes nothing: the other way would be no worse the next time.
	send(64<<10, seldomAgain, 11*time.Microsecond, 12*time.Microsecond)
	mostly(false, send(64<<10, most, 11*time.Microsecond, 12*time.Microsecond), "")
	send(64<<10, seldomAgain, 8*time.Microsecond, 12*time.Microsecond)
	mostly(true, send(64<<10, most, 11*time.Microsecond, 12*time.Microsecond), "")

	assert.Zero(t, send(256<<10, 4*most, 12*time.Microsecond, 4*slowCopies-8), "copies are quick")
	assert.Zero(t, send(256<<10, soonAgain, 12*time.Microsecond, 100*time.Microsecond))
	send(256<<10, seldomAgain, 12*time.Microsecond, 100*time.Microsecond)
	mostly(true, send(256<<10, most, 12*time.Microsecond, 100*time.Microsecond), "and quick no longer")
	assert.Zero(t, send(neverLent, most, time.Microsecond, 6*time.Microsecond))
}

// The first frames by a way find memory that nobody has used before. What they took is not believed for long.
func TestABadBeginningIsForgotten(t *testing.T) {
	for _, lent := range []bool{false, true} {
		var word atomic.Uint64
		c, a := choice{wants: &word}, appraisal{wants: &word}
		a.allow()
		wrong := 0
		for i := range 400 {
			way := c.lends(64<<10, false)
			took := 9 * time.Microsecond
			switch {
			case i < soonAgain/2 || i < 2*soonAgain && way:
				took = 200 * time.Microsecond
				if way != lent {
					took = 20 * time.Microsecond
				}
			case way == lent:
				took = 6 * time.Microsecond
			}
			if a.observe(64<<10, int64(took), way); i >= 2*soonAgain && way != lent {
				wrong++
			}
		}
		assert.Less(t, wrong, 100, "lent is sooner: %v", lent)
	}
}

// The first frame that comes by another way than those before finds the bytes where that has left them. It is not measured.
func TestAChangeOfWayIsNotMeasured(t *testing.T) {
	var word atomic.Uint64
	a := appraisal{wants: &word}
	a.allow()
	for range trial {
		a.observe(64<<10, int64(6*time.Microsecond), false)
	}
	for _, took := range []time.Duration{20 * time.Microsecond, 9 * time.Microsecond, 4 * time.Microsecond} {
		a.observe(64<<10, int64(took), true)
	}
	assert.Equal(t, cost(4001), a.lent[wayOf(64<<10)])
	assert.NotZero(t, word.Load()&(1<<wayOf(64<<10)))
}

// crowded is the component on a host whose ranks outnumber its processors.
type crowded struct{ Component }

func (c crowded) Open(h btl.Host) ([]btl.Module, error) { return c.Component.Open(crowdedHost{h}) }

type crowdedHost struct{ btl.Host }

func (h crowdedHost) Loop() btl.Loop { return crowdedLoop{h.Host.Loop().(*btltest.Loop)} }

type crowdedLoop struct{ *btltest.Loop }

func (crowdedLoop) Crowded() bool { return true }

// In a crowd the receiver's measure leaves out what the sender's copy takes from others. So the length decides,
// from the first frame on, and whatever the receiver has found.
func TestChoiceInACrowd(t *testing.T) {
	p := unconnectedOf(t, crowded{})
	p.connect()
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	p.until("arrived", func() bool { return len(p.recv[1].Frames) == 1 })
	for size, lends := range map[int]bool{crowdLends: true, crowdLends - 1: false, 256 << 10: true} {
		for i := range 2 * soonAgain {
			wants := &p.ep[1].pipe.wants
			wants.observe(size, int64(time.Second), lends)
			wants.observe(size, int64(time.Microsecond), !lends)
			p.ep[0].Send(frame(size), 0)
			require.Equal(t, lends, len(p.ep[0].pipe.loans) == 1, "frame %d of %d bytes", i, size)
			n := len(p.recv[1].Frames)
			p.until("arrived", func() bool { return len(p.recv[1].Frames) == n+1 && !p.ep[0].pipe.waits() })
		}
	}
}
