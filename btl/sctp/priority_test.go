package sctp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// Of what waits over the user stack, the lane with the lower place goes first, however
// late it was given: all but what was on its way already, which is less than a frame.
func TestPriorities(t *testing.T) {
	leak.Check(t)
	settings := with(pPriorities, "7,2")
	a, b := newNode(t, 0, with(pScheduler, "prio"), settings), newNode(t, 1, with(pScheduler, "prio"), settings)
	join(t, a, b)
	a.stack().Filter(func([]byte) bool { return false }) // the window fills and stays full
	const each, size = 5, 60_000
	for _, lane := range []int{0, 1} {
		for range each {
			a.send(strings.Repeat(fmt.Sprint(lane), size), lane)
		}
	}
	a.stack().Filter(func([]byte) bool { return true })
	await(t, "all", func() bool { return len(b.frames) == 2*each }, a, b)
	var lanes string
	for _, f := range b.frames {
		lanes += f[:1]
	}
	require.Equal(t, strings.Repeat("1", each)+strings.Repeat("0", each), lanes)
}
