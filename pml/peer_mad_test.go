package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// An acknowledgement of a frame that no transport was given yet is damage: taken at
// its word it would free the frame in the middle of the queue that it waits in.
func TestAcknowledgementOfAFrameThatWasNotSent(t *testing.T) {
	for name, damage := range map[string]wire.Header{
		"cumulative":             {Kind: wire.Ack, Ack: 2},
		"in a message's header":  {Kind: wire.Eager, Flags: wire.FlagCounted, Ack: 1},
		"range":                  {Kind: wire.Ack, Ranges: [wire.MaxRanges]wire.Range{{First: 1, Count: 1}}, NumRanges: 1},
		"range, within a longer": {Kind: wire.Ack, Ranges: [wire.MaxRanges]wire.Range{{First: 0, Count: 2}}, NumRanges: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, _ := receiving(t)
			ep.result = btl.Busy
			pe.sendControl(&wire.Header{Kind: wire.Clear, Handle: 1})
			pe.sendControl(&wire.Header{Kind: wire.Clear, Handle: 2})
			err := pe.rails[0].Deliver(encoded(damage), nil)
			require.ErrorContains(t, err, "was not sent yet")
			require.ErrorContains(t, err, "from rank 1: ")
			ep.result = btl.Done
			pe.rails[0].Writable()
			var handles []uint64
			for _, h := range ep.sent {
				if h.Kind == wire.Clear {
					handles = append(handles, h.Handle)
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
	pe.sendControl(&wire.Header{Kind: wire.Clear, Handle: 1})
	ep.result = btl.Busy
	pe.queueReplay(pe.rails[0])
	require.Equal(t, 1, pe.sent.Replays())
	require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Ack, Ack: 1}), nil))
	assert.True(t, pe.sent.Empty())
	assert.Zero(t, pe.sent.Replays(), "it need not go again")
}

// A part of one is enough: who does not want a frame does not wait for the rest of it.
func TestAcknowledgementOfAFrameOfWhichAPartWasSent(t *testing.T) {
	for name, ack := range map[string]wire.Header{
		"cumulative": {Kind: wire.Ack, Ack: 1},
		"range":      {Kind: wire.Ack, Ranges: [wire.MaxRanges]wire.Range{{First: 0, Count: 1}}, NumRanges: 1},
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
			require.NoError(t, r.Deliver(encoded(ack), nil))
			ep.room = 0
			r.Writable()
			assert.Len(t, ep.sent, 2, "the rest need not go")
			assert.True(t, op.done)
			assert.Zero(t, pe.sent.Replays())
		})
	}
}

// More data than a message has is damage: the receive would end, and the program have
// its buffer back, while some of it is still arriving.
func TestMoreDataThanWasTaken(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *rail, wire.Header) error{
		"a piece twice, by another number": func(t *testing.T, r *rail, data wire.Header) error {
			_, err := r.Begin(encoded(data), 60)
			require.NoError(t, err)
			data.Frame = 2
			return r.Deliver(encoded(data), make([]byte, 60))
		},
		"again after it broke off, twice": func(t *testing.T, r *rail, data wire.Header) error {
			l, err := r.Begin(encoded(data), 60)
			require.NoError(t, err)
			r.Drop(l)
			require.NoError(t, r.Deliver(encoded(data), make([]byte, 60)))
			data.Frame = 2
			return r.Deliver(encoded(data), make([]byte, 60))
		},
		"beside the first piece": func(_ *testing.T, r *rail, data wire.Header) error {
			return r.Deliver(encoded(data), make([]byte, 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			op := post(t, c, make([]byte, 100))
			require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 100)), make([]byte, 10)))
			data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: lastOf(t, ep, wire.Clear).Remote}
			require.ErrorContains(t, damage(t, pe.rails[0], data), "are here or arriving")
			require.False(t, op.done)
		})
	}
}

// Data for a receive that asked for none: its handle was guessed.
func TestDataForAReceiveThatAskedForNone(t *testing.T) {
	pe, _, c := receiving(t)
	op := post(t, c, make([]byte, 100))
	eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
	_, err := pe.rails[0].Begin(encoded(eager), 50)
	require.NoError(t, err)
	data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: op.handle()}
	require.ErrorContains(t, pe.rails[0].Deliver(encoded(data), make([]byte, 10)), "data frame of 10 bytes")
}
