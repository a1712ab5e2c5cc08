package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDelays(t *testing.T) {
	var seconds []float64
	for i := range 51 {
		seconds = append(seconds, float64(51-i))
	}
	d := delaysOf(seconds)
	assert.Equal(t, 51, d.Count)
	assert.Equal(t, 26.0, d.Median)
	assert.Equal(t, 46.0, d.P90)
	assert.InDelta(t, 50.5, d.P99, 1e-9, "half of the way from the 50th to the last")
	assert.InDelta(t, 50.95, d.P999, 1e-9)
	assert.Equal(t, 1.0, d.Quantiles[0])
	assert.Equal(t, 51.0, d.Quantiles[steps])
	assert.Equal(t, 51.0, d.Worst)
}
