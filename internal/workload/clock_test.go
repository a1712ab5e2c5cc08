package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The clock is none that somebody sets: it starts with the machine.
func TestClock(t *testing.T) {
	before, err := clock()
	require.NoError(t, err)
	after, err := clock()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, after, before)
	assert.Less(t, time.Duration(after), time.Since(time.Unix(0, 0))/2, "that is the time of day")
}
