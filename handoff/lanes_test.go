package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// Control frames and urgent messages have the first stream; the lanes of tags share the others.
func TestLanesHaveStreams(t *testing.T) {
	queues := []*Queue{new(Queue), new(Queue), new(Queue)}
	e := &Endpoint{link: &Link{queues: queues}}
	for lane, stream := range map[int]int{0: 1, 1: 2, 2: 1, 1023: 2, btl.ControlLane: 0, btl.UrgentLane: 0} {
		require.Same(t, queues[stream], e.queue(lane), "lane %d", lane)
	}
	e.link.queues = queues[:1]
	for _, lane := range []int{0, 7, btl.ControlLane, btl.UrgentLane} {
		require.Same(t, queues[0], e.queue(lane), "lane %d", lane)
	}
}
