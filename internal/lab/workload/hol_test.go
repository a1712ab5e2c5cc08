package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Messages of three tags leave every 10, take 50, and some of them wait.
func TestHeldUp(t *testing.T) {
	h := HOL{Tags: 3, Interval: 10}
	for name, c := range map[string]struct {
		delays []int64
		want   int // of these
	}{
		"all come in time":               {[]int64{50, 55, 50, 45, 50, 50}, 0},
		"one is lost":                    {[]int64{50, 150, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50}, 0},
		"one is lost, and all wait":      {[]int64{50, 150, 140, 130, 120, 110, 50, 50, 50, 50, 50, 50, 50}, 3}, // that of the same tag does not count
		"one is lost, and its tag waits": {[]int64{50, 150, 50, 50, 120, 50, 50, 50, 50, 50, 50, 50, 50}, 0},
		"two are lost":                   {[]int64{50, 150, 150, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50}, 0},
		"a little late":                  {[]int64{50, 50, 59, 60, 50, 50, 50}, 0},
	} {
		var planned, arrived []int64
		for i, delay := range c.delays {
			planned, arrived = append(planned, int64(10*i)), append(arrived, int64(10*i)+delay)
		}
		assert.InDelta(t, float64(c.want)/float64(len(c.delays)), heldUp(planned, arrived, 50, h), 1e-9, name)
	}
	h.Interval = 0
	assert.Zero(t, heldUp([]int64{0, 0}, []int64{100, 100}, 50, h))
}

// Where more is sent than the network carries, half of the messages are late. To look from each of them at all before it would take minutes.
func TestHeldUpOfMany(t *testing.T) {
	const n = 300_000
	h := HOL{Tags: 10, Interval: 100}
	planned, arrived := make([]int64, n), make([]int64, n)
	for i := range int64(n) {
		planned[i], arrived[i] = 100*i, 130*i+1000
	}
	assert.Zero(t, heldUp(planned, arrived, arrived[n/2]-planned[n/2], h))
	for i := range arrived { // two together, of two tags
		arrived[i] = arrived[i&^1]
	}
	assert.InDelta(t, 0.25, heldUp(planned, arrived, arrived[n/2]-planned[n/2], h), 0.01)
}
