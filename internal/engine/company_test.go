package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompany(t *testing.T) {
	var c company
	clock := int64(1)
	long := func() bool { return c.observe(clock, longYield+1) }
	short := func(n int) {
		for range n {
			require.False(t, c.observe(clock, longYield))
		}
	}
	// movesAfter is the number of long yields until a move.
	movesAfter := func() int {
		n := 1
		for !long() {
			n++
			require.LessOrEqual(t, n, maxLong)
		}
		return n
	}

	seen := map[int]bool{}
	for range 500 {
		clock = c.next
		seen[movesAfter()] = true
	}
	require.Len(t, seen, maxLong-minLong+1, "neither always at once, nor always together")
	require.Equal(t, clock+int64(maxPause), c.next, "bounded")

	for range 2 * maxLong {
		require.False(t, long(), "not again at once")
	}
	clock = c.next
	require.True(t, long(), "what came meanwhile counts")

	clock = c.next
	for range 10 {
		for range minLong - 1 {
			require.False(t, long())
		}
		short(quickBetween + 1)
	}
	for range minLong - 1 {
		long()
		short(quickBetween)
	}
	require.LessOrEqual(t, movesAfter(), maxLong-minLong+1, "few short ones between")

	clock = c.next + 4*int64(maxPause) + 1
	movesAfter()
	require.Equal(t, clock+int64(firstPause), c.next, "forgiven")

	for c.pause < maxPause {
		clock = c.next
		movesAfter()
	}
	clock = c.next
	short(alone + 1)
	movesAfter()
	require.Equal(t, clock+int64(firstPause), c.next, "it has helped")
}
