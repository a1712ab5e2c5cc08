package transfer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/stream"
)

// A sender at rest keeps nothing of what it has sent, bears what is still said of it, and goes on from there.
func TestRest(t *testing.T) {
	s := sending(t, Config{}, 4, 2)
	for n := 4; n < 1000; n += 4 {
		require.NoError(t, s.Acknowledge(int64(n)*ms, sack(t, tsn(n-3), 1<<20, gap(2, 2))))
		require.NoError(t, s.Acknowledge(int64(n)*ms, sack(t, tsn(n-1), 1<<20, nil)))
		for s.Confirmed() != nil {
		}
		if n+4 < 1000 {
			push(t, s, 4)
			send(s, int64(n)*ms)
		}
	}
	require.True(t, s.Idle())
	s.Rest(10_000 * ms)
	assert.Nil(t, s.ring)
	assert.Nil(t, s.gaps)
	assert.Nil(t, s.lost.list)
	assert.Zero(t, s.At())

	last := int(uint32(s.base) - uint32(firstTSN))
	require.NoError(t, s.Acknowledge(10_001*ms, sack(t, tsn(last-1), 1<<20, nil, tsn(last-1), tsn(last-2))))
	require.NoError(t, s.Acknowledge(10_001*ms, sack(t, tsn(last-3), 1<<20, gap(1, 2))))
	require.NoError(t, s.AcknowledgeUpTo(10_001*ms, tsn(last-1)))
	require.Error(t, s.Acknowledge(10_001*ms, sack(t, tsn(last), 1<<20, nil)))
	s.SetState(10_001*ms, 0, Down)
	s.SetState(10_001*ms, 0, Active)

	push(t, s, 3)
	assert.Len(t, send(s, 10_002*ms), 3)
	require.NoError(t, s.Acknowledge(10_003*ms, sack(t, tsn(last+2), 1<<20, nil)))
	for range 3 {
		assert.NotNil(t, s.Confirmed())
	}
	assert.True(t, s.Idle())
}

func push(t *testing.T, s *Sender, messages int) {
	for range messages {
		require.NoError(t, s.config.Outgoing.Push(&stream.Message{Size: 1000, Pieces: [][]byte{make([]byte, 1000)}}))
	}
}
