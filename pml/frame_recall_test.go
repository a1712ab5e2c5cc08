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

// replaying begins a send by a request that carries all of its data. The rail that the request
// went over breaks, and another one has the frame, in parts of at most limit bytes.
func replaying(t *testing.T, limit int) (pe *peer, op *operation, r *rail) {
	t.Helper()
	pe, ep, c := receiving(t)
	first := pe.rails[0]
	first.attr = btl.Attr{EagerLimit: 400, MaxFrame: 400}
	pe.credit.Open(1 << 10)
	ep.result = btl.Taken
	op, err := c.isend(make([]byte, 400), nil, 1, 0, Synchronous)
	require.NoError(t, err)
	r, again := secondRail(pe)
	r.attr.MaxFrame, again.result = limit, btl.Taken
	first.Down(errors.New("breaks"))
	require.NotNil(t, r.line.Newest())
	return pe, op, r
}

// leaves has the peer acknowledge the frame and say goodbye, over another rail than the one
// that CLEAR is to come by.
func (pe *peer) leaves(t *testing.T, r *rail) {
	t.Helper()
	require.NoError(t, r.Deliver(encoded(wire.Header{Kind: wire.Ack, Ack: 1}), nil))
	require.NoError(t, r.Deliver(encoded(wire.Header{Kind: wire.Goodbye}), nil))
}

// A peer leaves that has acknowledged a request but not cleared it, while a transport still
// holds the frame. When the send ends no transport has its buffer.
func TestPeerLeavesWhileTheTransportHoldsWhatItHasOfARequest(t *testing.T) {
	for name, limit := range map[string]int{"whole": 400, "in parts": 100} {
		t.Run(name, func(t *testing.T) {
			pe, op, r := replaying(t, limit)
			recalled := false
			r.endpoint = recaller{r.endpoint.(*scripted), func() int {
				recalled = true
				require.False(t, op.done, "the transport still has its buffer")
				return 0
			}}
			pe.leaves(t, r)
			require.True(t, op.done)
			require.ErrorIs(t, op.err, ErrPeerClosed)
			require.True(t, recalled)
			require.Nil(t, r.line.Newest())
		})
	}
}

// The same, with a transport that holds on to a part for longer than the operation lives.
func TestPartsThatAreReleasedLateAreNobodys(t *testing.T) {
	pe, op, r := replaying(t, 100)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	pe.ways.End(rails.Closed)
	pe.dropFrames(false)
	op.abandon(ErrPeerClosed)
	pe.pml.freeOperation(op)
	next := pe.pml.newOperation()
	require.Same(t, op, next)
	for f := r.line.Newest(); f != nil; f = r.line.Newest() {
		r.Released(&f.Frame)
	}
	assert.Zero(t, next.frames)
	assert.False(t, next.done)
}

// A peer has left, and has all that it wants of a send. One rail breaks. Another rail still has
// the buffer: it takes nothing more, and has not said why yet.
func TestOperationsOutliveATransportThatIsAboutToBreak(t *testing.T) {
	pe, ep := connected(t)
	op, _ := sendHeld(t, pe, ep)
	second, _ := secondRail(pe)
	bye := wire.Header{Kind: wire.Goodbye, Ack: 1}
	require.NoError(t, second.Deliver(encoded(bye), nil))
	pe.ways.Broken(&pe.rails[0].way, pe.env())
	second.Down(errors.New("breaks"))
	require.False(t, op.done, "the other transport still has its buffer")
	pe.rails[0].Down(errors.New("breaks"))
	require.True(t, op.done)
	require.NoError(t, op.err)
}

// A rail is watched as long as it holds parts of a frame that the peer has, if an operation
// waits for them.
func TestHeldPartsAreWaitedFor(t *testing.T) {
	pe, _, r := replaying(t, 100)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	require.Contains(t, pe.dueSince(), &r.line)
}
