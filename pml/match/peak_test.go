package match

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// peak is more messages, or receives, than a context keeps room for.
const peak = 4 * keptSlots

// A program that runs for days may have one burst. What its context needs for that, some hundred bytes for
// each, is given back when the burst is over.
func TestAPeakOfMessagesIsForgotten(t *testing.T) {
	c := NewContext(func(*Recv, *Message) {})
	ch, lane := c.Open(1, nil), new(Lane)
	for i := range uint32(peak) {
		require.NoError(t, ch.Arrive(lane, &Message{Tag: int32(i), Seq: i, LaneSeq: i}))
	}
	for i := range int32(peak) {
		require.NotNil(t, c.Post(&Recv{Source: 1, Tag: i}))
	}
	require.LessOrEqual(t, len(c.messages.slots)+len(c.messages.spare), keptSlots)
	require.LessOrEqual(t, len(c.queue.ring), keptRing)
	require.LessOrEqual(t, len(ch.waiting.ring), keptRing)

	require.NoError(t, ch.Arrive(lane, &Message{Tag: 5, Seq: peak, LaneSeq: peak}))
	require.NotNil(t, c.Post(&Recv{Source: Any, Tag: Any}))
}

func TestAPeakOfReceivesIsForgotten(t *testing.T) {
	matched := 0
	c := NewContext(func(*Recv, *Message) { matched++ })
	ch, lane := c.Open(1, nil), new(Lane)
	all := make([]Recv, peak)
	for i := range all {
		all[i] = Recv{Source: 1, Tag: int32(i)}
		require.Nil(t, c.Post(&all[i]))
	}
	for i := range all[1:] {
		require.True(t, c.Cancel(&all[1+i]))
	}
	require.Greater(t, len(c.receives.slots), keptSlots, "one receive is posted yet")
	require.NoError(t, ch.Arrive(lane, &Message{}))
	require.Equal(t, 1, matched)
	require.LessOrEqual(t, len(c.receives.slots)+len(c.receives.spare), keptSlots)

	last := &Recv{Source: 1, Tag: peak - 1} // as the last one that was posted, whose list has moved
	require.Nil(t, c.Post(last))
	require.NoError(t, ch.Arrive(lane, &Message{Tag: peak - 1, Seq: 1, LaneSeq: 1}))
	require.Equal(t, 2, matched)
}
