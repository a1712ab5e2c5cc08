package pml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// The peer has a frame that waits to go again in parts, behind another one, when it fails.
// The send of that frame is complete, and that of the other one is not.
func TestPeerFailsWithPartsToGoAgainThatItHas(t *testing.T) {
	pe, ep, c := receiving(t)
	pe.rails[0].attr = btl.Attr{EagerLimit: 1024, MaxFrame: 1024}
	pe.credit.Open(1 << 10)
	ep.result = btl.Taken
	var sends []*operation
	for range 2 {
		op, err := c.isend(make([]byte, 100), nil, 1, 0, Standard)
		require.NoError(t, err)
		sends = append(sends, op)
	}
	short, other := secondRail(pe)
	short.attr.MaxFrame = 10
	other.room = 3 // of the parts of the first frame
	pe.rails[0].Down(errors.New("it breaks"))
	require.NoError(t, pe.acknowledged(&wire.Header{NumRanges: 1, Ranges: [wire.MaxRanges]wire.Range{{First: 1, Count: 1}}}))
	require.False(t, sends[1].done, "its parts are in the queue")
	pe.fail(rails.Failed, errors.New("it is gone"))
	require.True(t, sends[0].done)
	assert.Error(t, sends[0].err)
	require.True(t, sends[1].done)
	assert.NoError(t, sends[1].err)
}

// A message that goes in parts, over several networks, is counted once, by the rail that its first part takes.
func TestMessageInPartsIsCounted(t *testing.T) {
	const size = 2 * pieceless
	pe, _, c := receiving(t)
	pe.rails[0].attr = btl.Attr{EagerLimit: size, MaxFrame: size}
	secondRail(pe)
	pe.credit.Open(1 << 20)
	send(t, c, size)
	require.Greater(t, pe.sent.Outstanding(), 0)
	total := Traffic{}
	for _, r := range pe.rails {
		total.Sent += r.traffic.Sent
		total.BytesSent += r.traffic.BytesSent
	}
	assert.Equal(t, Traffic{Sent: 1, BytesSent: size}, total)
}
