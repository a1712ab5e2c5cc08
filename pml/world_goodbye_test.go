package pml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// sendHeld starts a send whose one frame the transport takes and keeps.
func sendHeld(t *testing.T, pe *peer, ep *scripted) (*operation, *txFrame) {
	p := pe.pml
	p.tune = tunables{lanes: 1, creditMax: 1 << 20}
	p.host, p.contexts = &host{pml: p}, make(map[uint64]*Context)
	pe.laneSeq, pe.spread.Lanes = make([]uint32, 1), 1
	pe.credit.Open(1 << 20)
	pe.rails[0].attr = btl.Attr{EagerLimit: 1024, MaxFrame: 1024}
	ep.result = btl.Taken
	c := p.contextOf(0)
	c.group = ConsecutiveGroup(0, 2)
	op, err := c.isend(make([]byte, 100), nil, 1, 0, Standard)
	require.NoError(t, err)
	return op, frameOf(pe.rails[0].line.Newest())
}

func TestPeerLeavesWithAMessageThatTheTransportStillHolds(t *testing.T) {
	bye := wire.Header{Kind: wire.Goodbye}
	t.Run("acknowledged, then released", func(t *testing.T) {
		pe, ep := connected(t)
		op, f := sendHeld(t, pe, ep)
		bye := bye
		bye.Ack = 1
		_, err := pe.rails[0].begin(&bye, 0)
		require.NoError(t, err)
		require.False(t, op.done, "the buffer is still the transport's")
		pe.rails[0].Released(&f.Frame.Frame)
		require.True(t, op.done)
		require.NoError(t, op.err)
	})
	t.Run("acknowledged, then our world is closed", func(t *testing.T) {
		pe, ep := connected(t)
		op, _ := sendHeld(t, pe, ep)
		bye := bye
		bye.Ack = 1
		_, err := pe.rails[0].begin(&bye, 0)
		require.NoError(t, err)
		op.close()
		require.True(t, op.done)
		require.ErrorIs(t, op.err, ErrPeerClosed, "not ErrClosed: it is the peer that left first")
	})
	t.Run("acknowledged, then the transport is down", func(t *testing.T) {
		pe, ep := connected(t)
		op, _ := sendHeld(t, pe, ep)
		bye := bye
		bye.Ack = 1
		_, err := pe.rails[0].begin(&bye, 0)
		require.NoError(t, err)
		pe.rails[0].Down(btl.ErrPeerClosed)
		require.True(t, op.done)
		require.NoError(t, op.err)
	})
	t.Run("not acknowledged, and the transport gives it back", func(t *testing.T) {
		pe, ep := connected(t)
		op, f := sendHeld(t, pe, ep)
		pe.rails[0].endpoint = recaller{ep, func() int {
			require.False(t, op.done, "the transport still has its buffer")
			require.NotNil(t, f.Payload)
			return 10
		}}
		_, err := pe.rails[0].begin(&bye, 0)
		require.NoError(t, err)
		require.True(t, op.done)
		require.ErrorIs(t, op.err, ErrPeerClosed)
		require.Nil(t, pe.rails[0].line.Newest())
		require.True(t, pe.rails[0].up(), "the connection goes on: the peer waits for our answer")
		require.EqualValues(t, 1, pe.pml.stats.Rescued)
	})
	t.Run("not acknowledged, and the transport can not give it back", func(t *testing.T) {
		pe, ep := connected(t)
		op, _ := sendHeld(t, pe, ep)
		ep.closed = func() { require.False(t, op.done, "the transport still has its buffer") }
		_, err := pe.rails[0].begin(&bye, 0)
		require.NoError(t, err)
		require.True(t, op.done)
		require.ErrorIs(t, op.err, ErrPeerClosed)
		require.Nil(t, pe.rails[0].line.Newest())
		require.Nil(t, ep.closed, "its endpoint was closed")
	})
}

// recaller is an endpoint that gives frames back.
type recaller struct {
	*scripted
	recall func() int
}

func (r recaller) Recall() int { return r.recall() }

// A peer that fails, and one whose world is closed, have the same claim: no transport
// has a buffer any more when its operation ends.
func TestTransportsAreClosedBeforeOperationsEnd(t *testing.T) {
	pe, ep := connected(t)
	op, _ := sendHeld(t, pe, ep)
	ep.closed = func() { require.False(t, op.done, "the transport still has its buffer") }
	pe.fail(rails.Failed, errors.New("the launcher says so"))
	require.True(t, op.done)
	require.Nil(t, ep.closed)
}

func TestPeerFailsWhileTheTransportHoldsWhatItHasAcknowledged(t *testing.T) {
	pe, ep := connected(t)
	op, _ := sendHeld(t, pe, ep)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	require.False(t, op.done)
	pe.fail(rails.Failed, errors.New("the launcher says so"))
	require.True(t, op.done)
	require.Nil(t, pe.rails[0].line.Newest(), "with its endpoint the transport has given up the frame")
}

func TestGoodbyeWaitsForWhatALocalTransportHasNotDelivered(t *testing.T) {
	pe, ep := connected(t)
	pe.local, ep.result = true, btl.Taken
	pe.sendControl(&wire.Header{Kind: wire.Clear, Handle: 1, Remote: 2, Accept: 3})
	require.False(t, pe.drained())
	pe.rails[0].Released(&pe.rails[0].line.Newest().Frame)
	require.True(t, pe.drained())
}

// A peer leaves that has a request to send and has not answered it, while the transport
// holds the frame. The send ends, another operation has its place, and then the transport
// lets the frame go.
func TestPeerLeavesWhileTheTransportHoldsARequest(t *testing.T) {
	pe, ep, c := receiving(t)
	ep.result = btl.Taken
	pe.rails[0].attr = btl.Attr{MaxFrame: 1024}
	op, err := c.isend(nil, nil, 1, 0, Synchronous)
	require.NoError(t, err)
	f := pe.rails[0].line.Newest()
	bye := wire.Header{Kind: wire.Goodbye, Ack: pe.sent.Next()}
	require.NoError(t, pe.rails[0].Deliver(encoded(bye), nil))
	require.True(t, op.done)
	require.ErrorIs(t, op.err, ErrPeerClosed)
	pe.pml.freeOperation(op)
	next := pe.pml.newOperation()
	require.Same(t, op, next)
	pe.rails[0].Released(&f.Frame)
	require.Zero(t, next.frames)
	require.False(t, next.done)
}

// Sends that are complete, since their messages were copied, are not what is left: their frames are.
func TestWhatIsLeftOfCompleteSends(t *testing.T) {
	hurried(t, new(expediter), func(pe *peer, _ *scripted, c, _ *Context) {
		pe.rails[0].comesUp()
		send(t, c, 100)
		require.Zero(t, pe.sends)
		require.Contains(t, pe.pml.unfinished(), "; 1 frames are not acknowledged")
	})
}
