package pml

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/wire"
)

// What the user has set for a module is its limit; where nothing is set, a module that
// needs no repetition nor sorting sends more at once.
func TestEagerLimit(t *testing.T) {
	sure := btl.Attr{EagerLimit: 16 << 10, MaxFrame: 1 << 20, Reliable: true, Ordered: true}
	for name, c := range map[string]struct {
		change func(*btl.Attr)
		want   int
	}{
		"reliable and ordered": {func(*btl.Attr) {}, 256 << 10},
		"set by the user":      {func(a *btl.Attr) { a.EagerFixed = true }, 16 << 10},
		"lossy":                {func(a *btl.Attr) { a.Reliable = false }, 16 << 10},
		"confirms":             {func(a *btl.Attr) { a.Confirms = true }, 16 << 10},
		"short frames":         {func(a *btl.Attr) { a.MaxFrame = 4 << 10 }, 4 << 10},
	} {
		r := &rail{attr: sure}
		c.change(&r.attr)
		assert.Equal(t, c.want, r.eagerLimit(256<<10), name)
	}
}

// BsendOverhead covers what it stands for, and not much more.
func TestBsendOverheadIsWhatItTakes(t *testing.T) {
	takes := int(unsafe.Sizeof(operation{})+unsafe.Sizeof(txFrame{})) + payload.Takes(1)
	assert.LessOrEqual(t, takes, BsendOverhead)
	assert.GreaterOrEqual(t, 2*takes, BsendOverhead)
}

// What is charged for a buffered send is what it takes, at most half as much again as its
// message.
func TestBufferedCharge(t *testing.T) {
	for _, n := range []int{0, 1, 64, 65, 129, 1025, 1 << 20, 1<<20 + 1} {
		assert.LessOrEqual(t, bufferedCharge(payload.Takes(n)), int64(BsendOverhead+n+n/2), "%d bytes", n)
	}
}

// promptPeer is a peer over a rail whose acknowledgements come sooner than a copy is made, or not.
func promptPeer(t *testing.T, latency time.Duration) (*peer, *scripted, *Context) {
	pe, ep, c := receiving(t)
	pe.rails[0].attr = btl.Attr{EagerLimit: 64 << 10, MaxFrame: 1 << 20, Latency: latency}
	pe.pml.tune.copyLimit, pe.pml.tune.copyPool = 64<<10, 1<<20
	pe.credit.Open(1 << 16)
	return pe, ep, c
}

// Where an acknowledgement comes sooner than a copy is made, a long message is not copied: its send is
// complete when it is acknowledged.
func TestPromptRailsNeedNoCopies(t *testing.T) {
	for latency, copies := range map[time.Duration]bool{300 * time.Nanosecond: false, 20 * time.Microsecond: true} {
		pe, ep, c := promptPeer(t, latency)
		op, err := c.isend(make([]byte, 32<<10), nil, 1, 5, Standard)
		require.NoError(t, err)
		require.Equal(t, copies, op.lends(), "a copy would complete it at once")
		require.Equal(t, copies, pe.pml.copied > 0)
		require.Equal(t, copies, lastOf(t, ep, wire.Eager).Flags&wire.FlagAckNow == 0)
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.Zero(t, pe.pml.copied)
		require.True(t, op.done)

		op, err = c.isend(make([]byte, copyFirst), nil, 1, 5, Standard)
		require.NoError(t, err)
		require.Nil(t, op, "a short one is copied whatever the latency")
		require.NotZero(t, pe.pml.copied)

		op, err = c.isend(nil, nil, 1, 5, Standard)
		require.NoError(t, err)
		require.Nil(t, op, "an empty one is complete at once")
	}
}

// In a crowd a long message is copied whatever the latency: its send is complete when it was passed on, and nobody gives up
// the processor to wait for an acknowledgement. What is to be acknowledged is, at once.
func TestACrowdCopies(t *testing.T) {
	pe, ep, c := promptPeer(t, 300*time.Nanosecond)
	crowd, err := engine.New(engine.Options{Simulated: true, Crowded: true})
	require.NoError(t, err)
	t.Cleanup(crowd.Close)
	crowd.Lock()
	t.Cleanup(crowd.Unlock)
	pe.pml.engine = crowd
	op, err := c.isend(make([]byte, 32<<10), nil, 1, 5, Standard)
	require.NoError(t, err)
	require.True(t, op.lends(), "a copy completes it at once")
	require.Zero(t, lastOf(t, ep, wire.Eager).Flags&wire.FlagAckNow)
	pe.heard = pe.rails[0]
	before := len(ep.sent)
	require.NoError(t, pe.arrived(0, true, true))
	require.Len(t, ep.sent, before+1)
}

// Where release means delivery, what is copied is copied before it is sent: its send does not last a round
// trip.
func TestConfirmedSendsAreCompleteAtOnce(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	pe.rails[0].attr.Reliable, pe.rails[0].attr.Confirms = true, true
	op, err := c.isend(make([]byte, 32<<10), nil, 1, 5, Standard)
	require.NoError(t, err)
	require.Nil(t, op)
	require.NotZero(t, pe.pml.copied)
}

// A frame that its sender waits for is acknowledged at once, before the answer, though the program
// has always answered soon.
func TestPromptRailsAcknowledgeAtOnce(t *testing.T) {
	for latency, each := range map[time.Duration]bool{300 * time.Nanosecond: true, 20 * time.Microsecond: false} {
		pe, ep, c := promptPeer(t, latency)
		pe.heard = pe.rails[0]
		sent := 0
		for n := range uint32(12) {
			before := len(ep.sent)
			require.NoError(t, pe.arrived(n, true, true))
			sent += len(ep.sent) - before
			_, err := c.isend(nil, nil, 1, 5, Standard) // the answer
			require.NoError(t, err)
		}
		require.Equal(t, each, sent == 12, "%d acknowledgements", sent)
	}
}
