package pml

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// timed is an endpoint that knows how fast it is, and that keeps long frames until they are released.
type timed struct {
	*scripted
	speed int64
	asked int
	kept  []*btl.Frame
}

// Speed implements btl.Speedometer.
func (e *timed) Speed() int64 {
	e.asked++
	return e.speed
}

func (e *timed) Send(f *btl.Frame, lane int) btl.Result {
	result := e.scripted.Send(f, lane)
	if result == btl.Done && f.Size > 0 {
		e.kept = append(e.kept, f)
		return btl.Taken
	}
	return result
}

// release gives the oldest frame back.
func (e *timed) release(r *rail) {
	f := e.kept[0]
	e.kept = e.kept[1:]
	r.Released(f)
}

// paced is a peer over a rail of a speed.
func paced(t *testing.T, speed int64) (*peer, *timed, *Context) {
	pe, ep, c := receiving(t)
	timed := &timed{scripted: ep, speed: speed}
	r := pe.rails[0]
	r.attr = btl.Attr{EagerLimit: 64 << 10, MaxFrame: 1 << 20, BestFrame: 1 << 20, Reliable: true, Ordered: true}
	r.setEndpoint(timed)
	pe.pml.tune.eagerMax, pe.pml.tune.eagerAwaited = 256<<10, 1<<20
	pe.credit.Open(1 << 17)
	return pe, timed, c
}

func sendOf(t *testing.T, c *Context, size int) *operation {
	t.Helper()
	op, err := c.isend(make([]byte, size), nil, 1, 1, Standard)
	require.NoError(t, err)
	return op
}

// A long message goes over a slow rail without having asked: the answer would wait behind what the peer sends.
func TestLongMessagesDoNotAskOverASlowRail(t *testing.T) {
	for name, c := range map[string]struct {
		speed  int64
		size   int
		kind   wire.Kind
		length int // of its first frame
	}{
		"slow":                     {slowSpeed - 1, 512 << 10, wire.Eager, 512 << 10},
		"slow, the longest":        {slowSpeed - 1, 1 << 20, wire.Eager, 1 << 20},
		"slow, longer than a part": {slowSpeed - 1, 4 << 20, wire.Request, 1 << 20},
		"quick":                    {slowSpeed, 512 << 10, wire.Request, 0},
		"not known":                {0, 512 << 10, wire.Request, 0},
	} {
		pe, ep, ctx := paced(t, c.speed)
		sendOf(t, ctx, c.size)
		require.Len(t, ep.sent, 1, name)
		assert.Equal(t, c.kind, ep.sent[0].Kind, name)
		_, length := pe.rails[0].line.Holds()
		assert.Equal(t, c.length, length, name)
	}
}

// Where credit is short a message asks, and says so.
func TestLongMessagesKeepToCreditOverASlowRail(t *testing.T) {
	pe, ep, c := paced(t, slowSpeed-1)
	require.True(t, pe.credit.Spend(pe.credit.Available()-100))
	sendOf(t, c, 4<<20)
	require.Len(t, ep.sent, 1)
	assert.Equal(t, wire.Request, ep.sent[0].Kind)
	assert.NotZero(t, ep.sent[0].Flags&wire.FlagStarved)
	assert.NotZero(t, ep.sent[0].Flags&wire.FlagFar)
	assert.Empty(t, ep.kept)
}

// More than it takes near by is promised only to who sends over a slow rail, unless the user has set how much.
func TestMoreIsPromisedOverASlowRail(t *testing.T) {
	pe, _, _ := paced(t, slowSpeed-1)
	tune := &pe.pml.tune
	tune.creditNear, tune.creditMax, pe.pml.unpromised = 4*pe.grant.Promised(), 16*pe.grant.Promised(), 1<<30
	first := pe.grant.Promised()
	for range 6 {
		pe.starved(false)
	}
	assert.Equal(t, 4*first, pe.grant.Promised())
	for range 6 {
		pe.starved(true)
	}
	assert.Equal(t, 16*first, pe.grant.Promised())
	tune.creditNear, tune.creditMax = 0, 32*first
	pe.starved(false)
	assert.Equal(t, 32*first, pe.grant.Promised())
}

// A rail whose speed is not to be told for the moment is what it was. It is not asked with each message.
func TestSlowRailStaysSlow(t *testing.T) {
	pe, ep, c := paced(t, slowSpeed-1)
	pace := &pe.rails[0].pace
	for range 3 {
		sendOf(t, c, 300<<10)
		require.Equal(t, 1, ep.asked)
		pace.until = math.MaxInt64 // however slow the machine is
	}
	ep.speed, pace.until = 0, 0
	assert.True(t, pe.rails[0].isSlow())
	ep.speed, pace.until = slowSpeed, 0
	assert.False(t, pe.rails[0].isSlow())
}

// What a slow rail has taken goes before an answer. So it takes one piece of a long message at a time.
func TestSlowRailTakesOnePieceAtATime(t *testing.T) {
	pe, ep, c := paced(t, slowSpeed-1)
	r := pe.rails[0]
	op := sendOf(t, c, 2<<20)
	pe.clear(&wire.Header{Kind: wire.Clear, Handle: op.handle(), Remote: 1, Accept: 2 << 20})
	require.Len(t, ep.sent, 1, "the first part is still there")
	pe.sendControl(&wire.Header{Kind: wire.Clear})
	require.Equal(t, wire.Clear, ep.sent[1].Kind, "nothing but that goes before an answer")
	ep.release(r)
	for at := uint64(1 << 20); at < 2<<20; at += slowPiece {
		require.Len(t, ep.kept, 1)
		last := ep.sent[len(ep.sent)-1]
		require.Equal(t, wire.Data, last.Kind)
		require.Equal(t, at, last.Offset)
		require.Equal(t, slowPiece, ep.kept[0].Size)
		ep.release(r)
	}
	assert.Empty(t, ep.kept)
}

// A rail that is found to be quick while a piece waits goes on too.
func TestPieceGoesOnWhenTheRailIsFoundToBeQuick(t *testing.T) {
	pe, ep, c := paced(t, slowSpeed-1)
	op := sendOf(t, c, 3<<20)
	pe.clear(&wire.Header{Kind: wire.Clear, Handle: op.handle(), Remote: 1, Accept: 3 << 20})
	ep.speed, pe.rails[0].pace.until = slowSpeed, 0
	ep.release(pe.rails[0])
	require.Len(t, ep.kept, 2)
	assert.Equal(t, 1<<20, ep.kept[0].Size)
}

// What is longer than a frame of the slow rail goes in parts, whatever release means there.
func TestLongMessagesGoInPartsOverASlowRail(t *testing.T) {
	for name, confirms := range map[string]bool{"passed on": false, "delivered": true} {
		for size, c := range map[int]struct {
			kind  wire.Kind
			parts int
		}{
			64 << 10:   {wire.Eager, 1},
			65<<10 | 1: {wire.Eager, 2},
			300 << 10:  {wire.Eager, 5},
			1 << 20:    {wire.Eager, 16},
			2 << 20:    {wire.Request, 16},
		} {
			pe, ep, ctx := paced(t, slowSpeed-1)
			attr := &pe.rails[0].attr
			attr.MaxFrame, attr.BestFrame, attr.Confirms = 64<<10, 0, confirms
			sendOf(t, ctx, size)
			require.Len(t, ep.sent, c.parts, "%s, %d bytes", name, size)
			length := 0
			for _, h := range ep.sent {
				assert.Equal(t, c.kind, h.Kind, "%s, %d bytes", name, size)
				assert.Equal(t, c.parts > 1, h.IsPart(), "%s, %d bytes", name, size)
			}
			_, length = pe.rails[0].line.Holds()
			assert.Equal(t, min(size, 1<<20), length, "%s, %d bytes", name, size)
		}
	}
}

// Frames to the rank itself bear no numbers, so that there are no parts of them.
func TestNoPartsWithoutNumbers(t *testing.T) {
	pe, ep, ctx := paced(t, slowSpeed-1)
	pe.rails[0].attr.MaxFrame, pe.local = 64<<10, true
	for _, size := range []int{64<<10 + 1, 4 << 20} {
		ep.sent, ep.kept = nil, nil
		sendOf(t, ctx, size)
		require.Len(t, ep.sent, 1)
		assert.Equal(t, wire.Request, ep.sent[0].Kind)
		require.Len(t, ep.kept, 1)
		assert.LessOrEqual(t, ep.kept[0].Size, 64<<10)
	}
}

// A limit that the user has set holds over a slow rail too.
func TestLimitThatIsSetHoldsOverASlowRail(t *testing.T) {
	pe, ep, ctx := paced(t, slowSpeed-1)
	pe.rails[0].attr.EagerFixed = true
	sendOf(t, ctx, 65<<10)
	require.Len(t, ep.sent, 1)
	assert.Equal(t, wire.Request, ep.sent[0].Kind)
}

// Where frames are held until they have arrived, they are under way: the next piece does not wait for it.
func TestSlowRailThatRetainsTakesPiecesAtOnce(t *testing.T) {
	for _, attr := range []btl.Attr{{Confirms: true}, {Retains: true}} {
		pe, ep, c := paced(t, slowSpeed-1)
		pe.rails[0].attr.Confirms, pe.rails[0].attr.Retains = attr.Confirms, attr.Retains
		op := sendOf(t, c, 4<<20)
		pe.clear(&wire.Header{Kind: wire.Clear, Handle: op.handle(), Remote: 1, Accept: 4 << 20})
		assert.Len(t, ep.kept, 4)
	}
}
