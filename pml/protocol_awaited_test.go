package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/wire"
)

func TestAwaited(t *testing.T) {
	var a awaited
	for range awaitedNeed {
		assert.False(t, a.guess(awaitedNeed))
		a.answered(true)
	}
	for range 3 {
		for range awaitedTrust {
			assert.True(t, a.guess(awaitedNeed))
		}
		assert.False(t, a.guess(awaitedNeed), "asked again now and then")
		a.answered(true)
	}
	a.answered(false)
	for range awaitedNeed {
		assert.False(t, a.guess(awaitedNeed))
		a.answered(true)
	}
	assert.True(t, a.guess(awaitedNeed))
}

// One that was not awaited has the next ones ask, each time for longer, until many in a row were awaited again.
func TestOneThatWasNotAwaited(t *testing.T) {
	var a awaited
	asks := func() (n int) {
		for ; !a.guess(awaitedNeed); n++ {
			a.answered(true)
		}
		return n
	}
	require.Equal(t, awaitedNeed, asks())
	for need := 2 * awaitedNeed; need <= awaitedMost; need *= 2 {
		a.missed()
		require.Equal(t, need, asks())
	}
	a.missed()
	require.Equal(t, awaitedMost, asks(), "no longer than that")
	for range 20 { // runs without one
		for a.guess(awaitedNeed) {
		}
		a.answered(true)
	}
	require.True(t, a.guess(awaitedNeed))
	a.missed()
	require.Equal(t, 2*awaitedNeed, asks(), "forgotten")
}

// A long message that was sent at once and finds no receive: its sender hears of it, once, with the acknowledgement. A shorter one is
// always sent at once, and of one that lands in its receive there is nothing to say.
func TestReceiverSaysWhatWasNotAwaited(t *testing.T) {
	const most = 1 << 10
	for _, test := range []struct {
		size   int
		posted bool
		told   bool
	}{{most, false, false}, {most + 1, false, true}, {most + 1, true, false}} {
		pe, ep, c := receiving(t)
		pe.pml.tune.eagerMax = most
		buf := make([]byte, test.size)
		if test.posted {
			post(t, c, make([]byte, test.size))
		}
		deliver := func(n uint32) {
			h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted | wire.FlagAckNow, Context: c.id, Tag: 5, Frame: n, Seq: n, LaneSeq: n, Size: uint64(test.size)}
			ep.sent = nil
			require.NoError(t, pe.rails[0].Deliver(encoded(h), buf))
			pe.pml.Flush()
		}
		deliver(0)
		require.Equal(t, test.told, lastOf(t, ep, wire.Ack).Flags&wire.FlagUnawaited != 0, "%+v", test)
		post(t, c, make([]byte, test.size)) // takes the first, or the second
		if !test.posted {
			post(t, c, make([]byte, test.size))
		}
		deliver(1)
		require.Zero(t, lastOf(t, ep, wire.Ack).Flags&wire.FlagUnawaited)
	}
}

// The sender asks first from then on.
func TestSenderHearsThatItWasNotAwaited(t *testing.T) {
	pe, _, _ := receiving(t)
	for range awaitedNeed {
		pe.awaited.answered(true)
	}
	require.True(t, pe.awaited.guess(awaitedNeed))
	require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Ack, Flags: wire.FlagUnawaited}), nil))
	require.False(t, pe.awaited.guess(awaitedNeed))
}

// Only over a single rail, and up to its own bound, is a long message presumed to be
// awaited.
func TestWhichMessagesArePresumedToBeAwaited(t *testing.T) {
	pe, _, _ := receiving(t)
	r := pe.rails[0]
	pe.pml.tune.eagerAwaited = 1 << 20
	r.attr.Ordered, r.attr.Reliable, r.attr.MaxFrame = true, true, 4<<20
	sendOf := func(size uint64) *operation {
		op := new(operation)
		op.size = size
		return op
	}
	for range awaitedNeed {
		pe.awaited.answered(true)
	}
	assert.True(t, pe.presumed(sendOf(1<<20), r))
	assert.False(t, pe.presumed(sendOf(1<<20+1), r))
	secondRail(pe)
	assert.False(t, pe.presumed(sendOf(1<<20), r), "rails share what is cut into pieces")
}
