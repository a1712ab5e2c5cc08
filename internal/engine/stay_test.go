package engine

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// crowded is a poller whose clock shows every yield as one during which another thread ran.
type crowded struct {
	poller
	clock int64
	step  int64 // from one look at it to the next; 0: a long yield
}

func (p *crowded) now() int64 {
	p.clock += cmp.Or(p.step, 2*longYield)
	return p.clock
}

// alarm leaves the background goroutine asleep, which would read the clock beside the waiter.
func (p *crowded) alarm(int64) {}

// asked is a condition that is done once it was looked at so often, or sooner.
type asked struct {
	left   int
	sooner *int // if this is not zero any more
}

func (c *asked) Done() bool   { c.left--; return c.left <= 0 || *c.sooner > 0 }
func (c *asked) Park(*Waiter) {}

// A waiter that shares its processor moves, unless the thread's affinity is to be left alone.
func TestStayLeavesTheThreadAlone(t *testing.T) {
	for _, stay := range []bool{false, true} {
		inner, err := newPoller()
		require.NoError(t, err)
		e := start(Options{Spin: time.Hour, Stay: stay}, &crowded{poller: inner})
		moves := 0
		e.Lock()
		require.Equal(t, stay, e.move == nil)
		if e.move != nil {
			e.move = func(*btl.Processors) { moves++ }
		}
		looks := 4 * quickPolls
		if !stay {
			looks *= 64 // a thread that the system moves meanwhile does not move once more
		}
		require.NoError(t, e.Wait(watchdog(t), &asked{left: looks, sooner: &moves}, nil))
		e.Unlock()
		e.Close() // each wait is to be the only one of the process
		require.Equal(t, !stay, moves > 0, "moved %d times", moves)
	}
}
