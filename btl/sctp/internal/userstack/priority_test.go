package userstack

import (
	"testing"

	"github.com/pion/sctp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// waitingChunk is a chunk as a scheduler sees it.
type waitingChunk struct {
	sctp.StreamSchedulerChunk
	stream uint16
	number int // in its stream
}

func (c *waitingChunk) StreamIdentifier() uint16 { return c.stream }

// The lowest place goes first, control before all, and equals take turns; within a
// stream the order is kept.
func TestByPlace(t *testing.T) {
	c := &config{stack.Config{Tuning: stack.Tuning{Priorities: []uint16{5, 3}}}}
	p := &byPlace{placeOf: c.priority}
	assert.Nil(t, p.Peek())
	for _, stream := range []uint16{1, 2, 3, 0} { // places 5, 3, 3, 0
		for number := range 2 {
			p.Push(&waitingChunk{stream: stream, number: number})
		}
	}
	type chunk struct {
		stream uint16
		number int
	}
	var order []chunk
	for {
		next := p.Peek()
		if next == nil {
			break
		}
		require.Same(t, next, p.Peek())
		require.ErrorIs(t, p.Pop(&waitingChunk{}), sctp.ErrUnexpectedChunkPoppedStream)
		require.NoError(t, p.Pop(next))
		w := next.(*waitingChunk)
		order = append(order, chunk{w.stream, w.number})
	}
	assert.Equal(t, []chunk{{0, 0}, {0, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1}, {1, 0}, {1, 1}}, order)
	p.Push(&waitingChunk{})
	p.Reset()
	assert.Nil(t, p.Peek())
}
