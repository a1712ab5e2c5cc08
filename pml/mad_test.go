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

// A part of one is enough: who does not want a frame does not wait for the rest of it.
func TestAcknowledgementOfAFrameOfWhichAPartWasSent(t *testing.T) {
	for name, ack := range map[string]header{
		"cumulative": {kind: frameAck, ack: 1},
		"range":      {kind: frameAck, ranges: [maxRanges]numberRange{{0, 1}}, numRanges: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			r := pe.rails[0]
			r.attr.MaxFrame, r.attr.EagerLimit = 1000, 1000
			require.NoError(t, pe.credit.Update(1<<16))
			ep.result = btl.Busy
			op, err := c.isend(make([]byte, 500), nil, 1, 0, Standard)
			require.NoError(t, err)
			r.attr.MaxFrame = 100
			ep.result, ep.room = btl.Done, 2
			r.Writable()
			require.Len(t, ep.sent, 2)
			require.NoError(t, r.Deliver(ack.bytes(), nil))
			ep.room = 0
			r.Writable()
			assert.Len(t, ep.sent, 2, "the rest need not go")
			assert.True(t, op.done)
			assert.Nil(t, pe.again.head)
		})
	}
}

// More data than a message has is damage: the receive would end, and the program have
// its buffer back, while some of it is still arriving.
func TestMoreDataThanWasTaken(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *rail, header) error{
		"a piece twice, by another number": func(t *testing.T, r *rail, data header) error {
			_, err := r.Begin(data.bytes(), 60)
			require.NoError(t, err)
			data.frame = 2
			return r.Deliver(data.bytes(), make([]byte, 60))
		},
		"again after it broke off, twice": func(t *testing.T, r *rail, data header) error {
			l, err := r.Begin(data.bytes(), 60)
			require.NoError(t, err)
			r.Drop(l)
			require.NoError(t, r.Deliver(data.bytes(), make([]byte, 60)))
			data.frame = 2
			return r.Deliver(data.bytes(), make([]byte, 60))
		},
		"beside the first piece": func(_ *testing.T, r *rail, data header) error {
			return r.Deliver(data.bytes(), make([]byte, 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			op := post(t, c, make([]byte, 100))
			require.NoError(t, pe.rails[0].Deliver(request(0, 100).bytes(), make([]byte, 10)))
			data := header{kind: frameData, flags: flagCounted, frame: 1, handle: lastOf(t, ep, frameClear).remote}
			require.ErrorContains(t, damage(t, pe.rails[0], data), "are here or arriving")
			require.False(t, op.done)
		})
	}
}

// Data for a receive that asked for none: its handle was guessed.
func TestDataForAReceiveThatAskedForNone(t *testing.T) {
	pe, _, c := receiving(t)
	op := post(t, c, make([]byte, 100))
	eager := header{kind: frameEager, flags: flagCounted}
	_, err := pe.rails[0].Begin(eager.bytes(), 50)
	require.NoError(t, err)
	data := header{kind: frameData, flags: flagCounted, frame: 1, handle: op.handle()}
	require.ErrorContains(t, pe.rails[0].Deliver(data.bytes(), make([]byte, 10)), "data frame of 10 bytes")
}
