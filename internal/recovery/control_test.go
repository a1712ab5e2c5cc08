package recovery

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// average is the mean window, in packets, where one packet in so many is lost, evenly.
func average(c Controller, every int, trip float64) float64 {
	const packet, losses = 1000, 12
	now, sum := 0.0, 0.0
	c.Collapsed(0)
	c.Congested(0)
	for loss := range losses {
		for n := range every {
			window := float64(c.Window()) / packet
			now += trip / window
			if loss >= losses/2 {
				sum += 1 / window // time at this window is the less, the larger it is
			}
			c.Arrived(Sample{Now: int64(now * 1e9), Bytes: packet, Limit: true, RTT: int64(trip * 1e9), Last: uint64(n), Next: uint64(n)})
		}
		c.Congested(int64(now * 1e9))
	}
	return losses / 2 * float64(every) / sum
}

// The response functions of RFC 9438, section 5.1, tables 1 and 2: the mean window by the share of lost
// packets, with C = 0.4; and Reno's. A fifth more or less is the difference between even losses, as here,
// and the formula's.
func TestResponseFunctions(t *testing.T) {
	for _, c := range []struct {
		every       int
		trip        float64
		reno, cubic float64
	}{
		{100, 0.1, 12, 12},
		{1_000, 0.1, 38, 38},
		{10_000, 0.1, 120, 187},
		{100_000, 0.1, 379, 1054},
		{10_000, 0.01, 120, 120},
		{100_000, 0.01, 379, 379},
	} {
		assert.InEpsilon(t, c.reno, average(NewReno(1000), c.every, c.trip), 0.2, "reno, 1 of %d, %v s", c.every, c.trip)
		assert.InEpsilon(t, c.cubic, average(NewCubic(1000), c.every, c.trip), 0.2, "cubic, 1 of %d, %v s", c.every, c.trip)
	}
}

// The cubic function is at the old window when K has passed, and below it before (RFC 9438, figure 1 and
// equation 2).
func TestCubicFunction(t *testing.T) {
	c := NewCubic(1000)
	c.window, c.threshold = 1e6, 0
	c.Congested(0)
	assert.InDelta(t, 0.7e6, c.window, 1)
	c.begin(1)
	assert.InDelta(t, math.Cbrt(300/0.4), c.plateau, 1e-9)
	assert.InDelta(t, 0.7e6, c.at(0), 1)
	assert.InDelta(t, 1e6, c.at(c.plateau), 1)
	assert.Less(t, c.at(c.plateau/2), 1e6)
	assert.Greater(t, c.at(2*c.plateau), 1e6)
}

// What is taken back is as if it had not been, but for what has grown since.
func TestUndo(t *testing.T) {
	for _, c := range []Controller{NewReno(1000), NewCubic(1000)} {
		c.Congested(1)
		before := c.Window()
		c.Congested(2)
		assert.Less(t, c.Window(), before)
		c.Undo()
		assert.Equal(t, before, c.Window())
		assert.False(t, c.SlowStart())
	}
}

// Slow start ends as round trips get longer, before anything is lost; not where they only vary.
func TestSlowStartEndsBeforeTheQueueIsFull(t *testing.T) {
	rounds := func(trip func(round, n int) int64) (round int) {
		var s slowStart
		next := uint64(0)
		for round = range 30 {
			for n := range 20 {
				next++
				_, over := s.grow(Sample{Bytes: 1000, Limit: true, Last: next, Next: next + 20, Latest: trip(round, n)})
				if over {
					return round
				}
			}
		}
		return round
	}
	const ms = 1_000_000
	assert.Less(t, rounds(func(round, n int) int64 { return int64(20+10*round) * ms }), 10)
	assert.Equal(t, 29, rounds(func(round, n int) int64 { return int64(20+20*(n%2)) * ms }))
}
