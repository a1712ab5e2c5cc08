package userstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A ring gives back what was put in, whatever it had to grow to, and has no memory while
// it is empty.
func TestRingAtRest(t *testing.T) {
	var r ring
	b := make([]byte, maxRing)
	for _, size := range []int{1, 1500, 60 << 10, 100 << 10} {
		packet := strings.Repeat("p", size)
		pushed := 0
		for r.push([]byte(packet)) {
			pushed++
		}
		require.Positive(t, pushed)
		require.Len(t, r.buf, maxRing)
		for range pushed {
			require.False(t, r.empty())
			require.Equal(t, packet, string(b[:r.pop(b)]))
		}
		require.True(t, r.empty())
		require.Nil(t, r.buf)
	}
}
