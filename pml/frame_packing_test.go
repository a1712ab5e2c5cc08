package pml

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/pml/wire"
)

// keeper is an endpoint that takes every frame and keeps it.
type keeper struct {
	scripted
	frames []*btl.Frame
	data   [][]byte
}

func (k *keeper) Send(f *btl.Frame, _ int) btl.Result {
	if f.Size > 0 {
		b := make([]byte, f.Size)
		f.CopyPayload(b)
		k.frames, k.data = append(k.frames, f), append(k.data, b)
		return btl.Taken
	}
	return btl.Done
}

// A long message of short blocks is copied a piece at a time, however much the transport would take, and again where the
// transport breaks.
func TestScatteredMessagesArePackedInPieces(t *testing.T) {
	const blocks, each = 1 << 20, 8
	pe, _, c := promptPeer(t, 0)
	r, ep := pe.rails[0], &keeper{}
	r.endpoint = ep
	l, err := layout.Repeat(layout.Run(each), blocks, 2*each)
	require.NoError(t, err)
	memory := make([]byte, 2*each*blocks)
	for i := range memory {
		memory[i] = byte(i ^ i>>8 ^ i>>16)
	}
	want := make([]byte, l.Size())
	for i := range blocks {
		copy(want[i*each:], memory[2*i*each:][:each])
	}
	op, err := c.isendOf(memory, nil, l, 1, 5, Standard)
	require.NoError(t, err)
	pe.clear(&wire.Header{Handle: op.handle(), Accept: op.size, Remote: 1})
	require.LessOrEqual(t, pe.packed, packRoom)
	require.Len(t, ep.frames, packRoom/packPiece)

	lost := len(ep.frames)
	pe.queueReplay(r) // as if the transport had broken
	for f := r.line.Reclaim(); f != nil; f = r.line.Reclaim() {
		frameOf(f).settle()
	}
	ep.frames, ep.data = nil, nil
	var got []byte
	for pe.pump(); len(ep.frames) > 0; {
		f, b := ep.frames[0], ep.data[0]
		ep.frames, ep.data = ep.frames[1:], ep.data[1:]
		require.LessOrEqual(t, pe.packed, packRoom+packPiece)
		got = append(got, b...)
		r.Released(f)
	}
	require.Equal(t, len(want)/packPiece, len(got)/packPiece, "%d frames were lost", lost)
	require.True(t, bytes.Equal(want, got))
	require.Zero(t, pe.packed)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: pe.sent.Next()}))
	require.True(t, op.done)
	require.NoError(t, op.err)
}

// Over a far way as much is packed as its link may hold, if the transport holds it until it has arrived.
func TestScatteredMessagesOverAFarWay(t *testing.T) {
	l, err := layout.Repeat(layout.Run(1<<10), 16<<10, 2<<10)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		speed    int64
		confirms bool
		packed   int
	}{
		"far":            {slowSpeed - 1, true, farRoom},
		"quick":          {slowSpeed, true, packRoom},
		"held no longer": {slowSpeed - 1, false, slowPiece}, // the system would only queue more
	} {
		pe, _, ctx := paced(t, c.speed)
		pe.rails[0].attr.Confirms = c.confirms
		op, err := ctx.isendOf(make([]byte, 32<<20), nil, l, 1, 5, Synchronous)
		require.NoError(t, err)
		pe.clear(&wire.Header{Handle: op.handle(), Accept: op.size, Remote: 1})
		require.InDelta(t, c.packed, pe.packed, packPiece-1, name)
	}
}

// A frame that goes in parts, over several networks, keeps its copy until it is acknowledged. Then there is room for the pieces of
// a long message that has waited for it, whatever tells of the acknowledgement.
func TestScatteredMessageWaitsForThoseThatGoInParts(t *testing.T) {
	const each = packRoom / 4
	for name, acknowledge := range map[string]func(pe *peer) error{
		"all":            func(pe *peer) error { return pe.acknowledged(&wire.Header{Ack: pe.sent.Next()}) },
		"with a message": func(pe *peer) error { return pe.acknowledgedUpTo(pe.sent.Next(), 0) },
		"behind a gap": func(pe *peer) error {
			return pe.acknowledged(&wire.Header{NumRanges: 1, Ranges: [wire.MaxRanges]wire.Range{{First: 1, Count: 3}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 0)
			pe.pml.tune.eagerMax, pe.rails[0].attr.EagerLimit = each, each
			secondRail(pe)
			scattered := func(size int) *operation {
				l, err := layout.Repeat(layout.Run(8), size/8, 16)
				require.NoError(t, err)
				op, err := c.isendOf(make([]byte, 2*size), nil, l, 1, 5, Standard)
				require.NoError(t, err)
				return op
			}
			for range packRoom / each {
				scattered(each)
			}
			op := scattered(8 * each)
			pe.clear(&wire.Header{Handle: op.handle(), Accept: op.size, Remote: 1})
			require.Equal(t, packRoom, pe.packed)
			require.Zero(t, op.offset, "it waits")
			require.NoError(t, acknowledge(pe))
			require.NotZero(t, op.offset)
		})
	}
}

// A frame that is freed at once, since nobody acknowledges it, gives its copy back too.
func TestPackedFramesThatNobodyAcknowledges(t *testing.T) {
	pe, _, _ := promptPeer(t, 0)
	l, err := layout.Repeat(layout.Run(1), 100, 2)
	require.NoError(t, err)
	op := pe.pml.newOperation()
	op.isSend = true
	op.take(make([]byte, 200), nil, l)
	f := pe.pml.newFrame(pe)
	f.refer(op, 0, 100)
	f.pack()
	require.NotZero(t, pe.packed)
	pe.pml.freeFrame(f)
	require.Zero(t, pe.packed)
	require.Equal(t, packing{}, f.packed)
}

// Pieces that a rail was to carry which has broken go in parts over one that takes less, and keep their copies until they are acknowledged. The next pieces
// wait for that, and are none of those that would have them acknowledged.
func TestScatteredMessageGoesOnBehindPiecesThatWentInParts(t *testing.T) {
	const pieces, blocks, part = packRoom/packPiece + 1, 1 << 20, packPiece / 8
	pe, ep, c := promptPeer(t, 0)
	ep.room = 1 + pieces
	l, err := layout.Repeat(layout.Run(8), blocks, 16)
	require.NoError(t, err)
	op, err := c.isendOf(make([]byte, 16*blocks), nil, l, 1, 5, Standard)
	require.NoError(t, err)

	to, answers, theirs := receiving(t)
	r := to.rails[0]
	post(t, theirs, make([]byte, l.Size()))
	require.NoError(t, r.Deliver(encoded(ep.sent[0]), nil))
	answer := lastOf(t, answers, wire.Clear)
	require.NoError(t, pe.acknowledged(&answer))
	pe.clear(&answer)
	answers.sent = nil
	require.Len(t, ep.sent, 1+pieces)

	short, other := secondRail(pe)
	short.attr.MaxFrame = part
	pe.rails[0].Down(errors.New("it breaks"))
	require.NotNil(t, pe.streams.head)
	for delivered := 0; delivered < len(other.sent); {
		for _, h := range other.sent[delivered:] {
			if delivered++; h.Kind == wire.Data {
				size := min(part, int(op.size-h.Offset))
				if h.IsPart() {
					size = min(part, int(h.Part.Whole-h.Part.At))
				}
				require.NoError(t, r.Deliver(encoded(h), make([]byte, size)))
			}
		}
		to.pml.Flush()
		for _, h := range answers.sent {
			require.NoError(t, pe.acknowledged(&h))
		}
		answers.sent = nil
	}
	require.True(t, op.done)
	require.NoError(t, op.err)
}
