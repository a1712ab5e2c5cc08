package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// An acknowledgement of a frame that no transport was given yet is damage: taken at
// its word it would free the frame in the middle of the queue that it waits in.
func TestAcknowledgementOfAFrameThatWasNotSent(t *testing.T) {
	for name, damage := range map[string]header{
		"cumulative":             {kind: frameAck, ack: 2},
		"in a message's header":  {kind: frameEager, flags: flagCounted, ack: 1},
		"range":                  {kind: frameAck, ranges: [maxRanges]numberRange{{1, 1}}, numRanges: 1},
		"range, within a longer": {kind: frameAck, ranges: [maxRanges]numberRange{{0, 2}}, numRanges: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, _ := receiving(t)
			ep.result = btl.Busy
			pe.sendControl(&header{kind: frameClear, handle: 1})
			pe.sendControl(&header{kind: frameClear, handle: 2})
			err := pe.rails[0].Deliver(damage.bytes(), nil)
			require.ErrorContains(t, err, "was not sent yet")
			require.ErrorContains(t, err, "from rank 1: ")
			ep.result = btl.Done
			pe.rails[0].Writable()
			var handles []uint64
			for _, h := range ep.sent {
				if h.kind == frameClear {
					handles = append(handles, h.handle)
				}
			}
			assert.Equal(t, []uint64{1, 2}, handles, "what waits goes out, each once")
		})
	}
}

// One that was sent before its rail broke, and waits to be sent again, may well have
// arrived.
func TestAcknowledgementOfAFrameThatIsToGoAgain(t *testing.T) {
	pe, ep, _ := receiving(t)
	pe.sendControl(&header{kind: frameClear, handle: 1})
	ep.result = btl.Busy
	pe.replay(pe.rails[0])
	require.Equal(t, 1, pe.again.len)
	require.NoError(t, pe.rails[0].Deliver((&header{kind: frameAck, ack: 1}).bytes(), nil))
	assert.True(t, pe.sent.empty())
	assert.Nil(t, pe.again.head, "it need not go again")
}
