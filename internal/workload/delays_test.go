package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A quantile is the least value that its share of all are not above.
func TestDelays(t *testing.T) {
	var seconds []float64
	for i := range 50 {
		seconds = append(seconds, float64(50-i))
	}
	d := delaysOf(seconds)
	assert.Equal(t, 25.0, d.Median)
	assert.Equal(t, 45.0, d.P90)
	assert.Equal(t, 50.0, d.P99, "49 are 98 %")
	assert.Equal(t, 50.0, d.P999)
	assert.Equal(t, 1.0, d.Quantiles[0])
	assert.Equal(t, 50.0, d.Quantiles[steps])
	assert.Equal(t, 55, 1+place(0.55, 100), "though 0.55·100 is a little more than 55")
}
