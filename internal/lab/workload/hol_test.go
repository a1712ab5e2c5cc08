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
