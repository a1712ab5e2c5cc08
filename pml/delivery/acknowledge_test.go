package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A header has room for the cumulative acknowledgement only: what has arrived beyond a gap is
// still due when a frame has left.
func TestFrameDoesNotTellOfGaps(t *testing.T) {
	var r Receiver
	when, err := r.Arrived(1, false)
	require.NoError(t, err)
	require.Equal(t, Soon, when)
	r.Owe()
	r.Stamped()
	require.True(t, r.Due(), "the peer does not know yet that frame 1 is there")
	when, err = r.Arrived(0, false)
	require.NoError(t, err)
	require.Equal(t, Soon, when, "what fills a gap")
	r.Stamped()
	require.False(t, r.Due())
}
