package pml

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/wire"
)

// uncopied begins a send whose frame is not copied, to a peer that does not acknowledge it, in virtual time.
func uncopied(t *testing.T, mode Mode, size int, f func(ctx context.Context, pe *peer, ep *retaining, op *operation, buf []byte)) {
	uncopiedOver(t, 0, mode, size, f)
}

// uncopiedOver is uncopied over so many networks, all of which are one rail; 0: a rail alone.
func uncopiedOver(t *testing.T, networks int, mode Mode, size int, f func(ctx context.Context, pe *peer, ep *retaining, op *operation, buf []byte)) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := promptPeer(t, 20*time.Microsecond)
		pe.pml.tune.eagerMax = 256 << 10
		pe.rails[0].attr.EagerLimit = 256 << 10
		ep := new(retaining)
		pe.rails[0].setEndpoint(ep)
		for range networks {
			pe.networks = append(pe.networks, network{pe.rails[0]})
		}
		buf := bytes.Repeat([]byte{1}, size)
		op, err := c.isend(buf, nil, 1, 5, mode)
		require.NoError(t, err)
		require.NotNil(t, op)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f(ctx, pe, ep, op, buf)
	})
}

// Who waits for the acknowledgement of a peer that computes has its message copied soon.
func TestLateAcknowledgementIsNotWaitedFor(t *testing.T) {
	uncopied(t, Standard, 128<<10, func(ctx context.Context, pe *peer, ep *retaining, op *operation, buf []byte) {
		begun := time.Now()
		_, err := pe.pml.awaitAlone(ctx, op)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(begun), 2*time.Millisecond)
		require.GreaterOrEqual(t, pe.pml.copied, len(buf))
		buf[7] = 9
		require.EqualValues(t, 1, ep.frame.Payload[7], "the frame may go again, as it was")
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.Zero(t, pe.pml.copied)
		require.Empty(t, pe.pml.overdue.sends)
	})
}

// So it is where several networks share a message, each of which has had a part of it.
func TestLateAcknowledgementOfPartsIsNotWaitedFor(t *testing.T) {
	uncopiedOver(t, 2, Standard, 128<<10, func(ctx context.Context, pe *peer, _ *retaining, op *operation, buf []byte) {
		begun := time.Now()
		_, err := pe.pml.awaitAlone(ctx, op)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(begun), 2*time.Millisecond)
		clear(buf)
		buf[7] = 9
		parts := 0
		pe.sent.Each(func(part *delivery.Frame) {
			parts++
			again := make([]byte, part.Size)
			part.CopyPayload(again)
			require.Equal(t, bytes.Repeat([]byte{1}, part.Size), again, "the part may go again, as it was")
		})
		require.Greater(t, parts, 1)
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.Zero(t, pe.pml.copied)
	})
}

// Not so while a transport has one of the parts.
func TestPartsThatATransportHasAreWaitedFor(t *testing.T) {
	uncopiedOver(t, 2, Standard, 128<<10, func(ctx context.Context, pe *peer, _ *retaining, op *operation, _ []byte) {
		taken := false
		pe.sent.Each(func(part *delivery.Frame) {
			if !taken {
				pe.rails[0].line.Take(part)
			}
			taken = true
		})
		_, err := pe.pml.awaitAlone(ctx, op)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, pe.pml.copied)
	})
}

// So has who waits for several.
func TestLateAcknowledgementsAreNotWaitedFor(t *testing.T) {
	uncopied(t, Standard, 128<<10, func(ctx context.Context, pe *peer, _ *retaining, op *operation, _ []byte) {
		s := (*allOver)(pe.pml.newWaitSet([]Request{requestOf(op)}))
		require.False(t, s.Done())
		require.NoError(t, pe.pml.engine.Wait(ctx, s, nil))
	})
}

// There is no copy while the transport has the frame, nor without room for it, nor of a message that has asked
// for its receive: that has to match first, and may be given back.
func TestLateAcknowledgementIsWaitedForWithoutACopy(t *testing.T) {
	for name, c := range map[string]struct {
		mode    Mode
		size    int
		prepare func(*peer, *operation)
	}{
		"held":    {Standard, 128 << 10, func(pe *peer, _ *operation) { pe.sent.Each(pe.rails[0].line.Take) }},
		"no room": {Standard, 128 << 10, func(pe *peer, _ *operation) { pe.pml.tune.copyPool = 0 }},
		"matches": {Synchronous, 128 << 10, func(*peer, *operation) {}},
		"cleared": {Standard, 512 << 10, func(pe *peer, op *operation) {
			pe.clear(&wire.Header{Handle: op.handle(), Remote: 1, Accept: op.size})
			require.Equal(t, op.size, op.offset, "all of it was sent")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			uncopied(t, c.mode, c.size, func(ctx context.Context, pe *peer, _ *retaining, op *operation, _ []byte) {
				c.prepare(pe, op)
				_, err := pe.pml.awaitAlone(ctx, op)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Zero(t, pe.pml.copied)
			})
		})
	}
}
