package match

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scattered returns a context with messages of a sender in all states: one that waits, one
// that is ready in its lane only, one that is not ready, one that was received before older
// ones.
func scattered(t *testing.T) (c *Context, from *Sender, received *Message) {
	c, from = NewContext(func(*Recv, *Message) {}), &Sender{Limit: 20}
	ch, lanes := c.Open(1, from), []*Lane{NewLane(from), NewLane(from)}
	for _, m := range []struct {
		tag          int32
		seq, laneSeq uint32
		lane         int
	}{{1, 0, 0, 0}, {2, 2, 0, 1}, {3, 3, 5, 1}, {4, 4, 1, 1}} {
		require.NoError(t, ch.Arrive(lanes[m.lane], &Message{Tag: m.tag, Seq: m.seq, LaneSeq: m.laneSeq}))
	}
	received = c.Probe(1, 4)
	c.Take(received)
	return c, from, received
}

func tags(list *[]int32) func(*Message) {
	return func(m *Message) { *list = append(*list, m.Tag) }
}

func TestExpel(t *testing.T) {
	c, from, _ := scattered(t)
	var dropped []int32
	c.Expel(2, tags(&dropped))
	assert.Empty(t, dropped)
	c.Expel(1, tags(&dropped))
	assert.ElementsMatch(t, []int32{1, 2, 3}, dropped)
	assert.Nil(t, c.Probe(Any, Any))
	assert.Nil(t, c.Channel(1))
	assert.Equal(t, 1, from.early, "in a lane")
}

func TestAbandon(t *testing.T) {
	c, _, _ := scattered(t)
	var dropped []int32
	c.Abandon(1, tags(&dropped))
	assert.Equal(t, []int32{3}, dropped)
	assert.NotNil(t, c.Probe(1, 1))
	assert.NotNil(t, c.Probe(1, 2))
}

// What was received before older messages may come back after the end.
func TestReturnAfterTheEnd(t *testing.T) {
	c, from, received := scattered(t)
	var dropped []int32
	c.Discard(tags(&dropped))
	c.End(tags(&dropped))
	assert.ElementsMatch(t, []int32{1, 2, 3}, dropped)
	assert.Equal(t, 1, from.early)
	c.Return(received)
	assert.ElementsMatch(t, []int32{1, 2, 3, 4}, dropped)
}

func TestSenderWithinItsLimit(t *testing.T) {
	from := &Sender{Limit: 3}
	c := NewContext(func(*Recv, *Message) {})
	ch, lane := c.Open(1, from), NewLane(from)
	arrive := func(n uint32) error { return ch.Arrive(lane, &Message{Seq: n, LaneSeq: n}) }
	require.NoError(t, arrive(1))
	require.NoError(t, arrive(2))
	require.ErrorContains(t, arrive(3), "number 3 has arrived before 0, and 4 others are ahead")
	require.NoError(t, arrive(0), "what is missing may always come")
	require.Zero(t, from.early)
	require.NoError(t, arrive(3))
}
