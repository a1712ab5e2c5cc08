package pml

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/wire"
)

// A request that brings the whole message is answered by one frame, when the message has come: it acknowledges the request too.
func TestRequestThatBringsAllHasOneAnswer(t *testing.T) {
	for _, posted := range []bool{true, false} {
		pe, ep, c := receiving(t)
		r := pe.rails[0]
		h := request(0, 100)
		h.Flags |= wire.FlagAckNow
		buf := make([]byte, 100)
		var op *operation
		if posted {
			op = post(t, c, buf)
		}
		l, err := r.Begin(encoded(h), 100)
		require.NoError(t, err)
		require.Empty(t, ep.sent, "nothing has come yet")
		l.Fill(bytes.Repeat([]byte{1}, 100))
		require.NoError(t, r.End(l))
		if !posted {
			require.Empty(t, ep.sent, "nobody waits for it yet")
			op = post(t, c, buf)
		}
		require.True(t, op.done)
		require.Len(t, ep.sent, 1)
		answer := lastOf(t, ep, wire.Clear)
		assert.EqualValues(t, 1, answer.Ack)
		assert.EqualValues(t, 100, answer.Accept)
		assert.Equal(t, posted, answer.Flags&wire.FlagAwaited != 0)
		assert.Equal(t, bytes.Repeat([]byte{1}, 100), buf)
	}
}

// Given back while it arrives it is kept, and answered for the receive that gets it, since its sender has not been told of the first one.
func TestRequestThatBringsAllIsLeftWhileItArrives(t *testing.T) {
	for _, later := range []bool{true, false} {
		pe, ep, c := receiving(t)
		r := pe.rails[0]
		buf := make([]byte, 100)
		op := post(t, c, buf)
		l, err := r.Begin(encoded(request(0, 100)), 100)
		require.NoError(t, err)
		l.Fill(bytes.Repeat([]byte{1}, 50))
		leaveCall(op)
		clear(buf) // the caller's again
		require.Empty(t, ep.sent)
		if !later {
			op = post(t, c, buf)
		}
		l.Fill(bytes.Repeat([]byte{1}, 50))
		require.NoError(t, r.End(l))
		if later {
			op = post(t, c, buf)
		}
		require.True(t, op.done)
		answer := lastOf(t, ep, wire.Clear)
		assert.EqualValues(t, 0, answer.Round)
		assert.EqualValues(t, 100, answer.Accept)
		assert.Equal(t, bytes.Repeat([]byte{1}, 100), buf)
	}
}

// A short synchronous send brings its bytes along, where release means delivery too.
func TestShortRequestsBringAll(t *testing.T) {
	for size, brings := range map[int]bool{copyFirst: true, copyFirst + 1: false} {
		pe, ep, c := promptPeer(t, 0)
		pe.rails[0].attr.Reliable, pe.rails[0].attr.Confirms = true, true
		op, err := c.isend(make([]byte, size), nil, 1, 5, Synchronous)
		require.NoError(t, err)
		require.Equal(t, brings, lastOf(t, ep, wire.Request).Flags&wire.FlagAckNow != 0)
		require.False(t, op.done)
	}
}
