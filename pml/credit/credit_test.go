package credit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCreditPrice(t *testing.T) {
	for n, units := range map[int]uint32{0: 7, 1: 8, 64: 8, 65: 9, 1024: 23, 256 << 10: 4103} {
		assert.Equal(t, units, Price(n), "%d bytes", n)
	}
}

// TestCreditProperty runs a sender and a receiver with messages and grants under
// way between them, grants lost and out of order: the sender never exceeds what
// the receiver takes, the promises never exceed the limits, and when everything
// has been received and the last grant has come through, nothing has got lost.
func TestCreditProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Uint32Range(0, 3000).Draw(t, "first")
		limit := rapid.Uint32Range(0, 6000).Draw(t, "limit")
		pool := Pool(rapid.Uint64Range(0, 6000).Draw(t, "pool"))
		all := pool
		start := rapid.SampledFrom([]uint32{0, 1<<31 - 500, 1<<32 - 500}).Draw(t, "start")

		s := Sender{granted: start, used: start, opened: true}
		r := Receiver{size: first, granted: start + first, used: start, advertised: start + first}
		require.NoError(t, s.Update(start+first))
		var flying, held, grants []uint32
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				if u := rapid.Uint32Range(Envelope, 600).Draw(t, "units"); s.Spend(u) {
					flying = append(flying, u)
				}
			case 1: // a message arrives and waits for its receive
				if len(flying) > 0 {
					require.NoError(t, r.Charge(flying[0]))
					held, flying = append(held, flying[0]), flying[1:]
				}
			case 2: // one is received
				if len(held) > 0 {
					r.Refund(held[0])
					held = held[1:]
					grants = append(grants, r.advertise())
				}
			case 3:
				r.Grow(limit, &pool)
				grants = append(grants, r.advertise())
			case 4: // a grant arrives: any, in any order
				if len(grants) > 0 {
					require.NoError(t, s.Update(rapid.SampledFrom(grants).Draw(t, "grant")))
				}
			}
			outstanding := sum(flying) + sum(held)
			require.LessOrEqual(t, outstanding, uint64(r.size), "more outstanding than promised")
			require.LessOrEqual(t, r.size, max(first, limit))
			require.Equal(t, all, pool+Pool(r.size-first), "promises beyond the first grant come from the pool")
		}
		for _, u := range append(held, flying...) {
			r.Refund(u)
		}
		require.NoError(t, s.Update(r.advertise()))
		require.Equal(t, r.size, s.Available())
	})
}

func sum(units []uint32) (total uint64) {
	for _, u := range units {
		total += uint64(u)
	}
	return total
}

func TestCreditRefusesWhatWasNotGranted(t *testing.T) {
	var r Receiver
	r.Open(10)
	require.NoError(t, r.Charge(6))
	assert.ErrorContains(t, r.Charge(6), "message of 6 credit units, but only 4 are left")
	assert.ErrorContains(t, r.Charge(1<<31+5), "but only 4 are left", "a wild size")
}

// The peer hears of returned credit before it has used up what it knows of.
func TestCreditIsAdvertisedInTime(t *testing.T) {
	var r Receiver
	r.Open(1000)
	due := uint32(0)
	for returned := uint32(0); returned < 1000; returned += 10 {
		require.NoError(t, r.Charge(10))
		if r.Refund(10) {
			due = returned
			break
		}
	}
	assert.InDelta(t, 500, due, 10)
	r.advertise()
	require.NoError(t, r.Charge(10))
	assert.False(t, r.Refund(10), "just told")
}

// Over a long way the rest of a large grant would not last for as long as it takes to hear.
func TestReturnsOfALargeGrantAreAdvertisedSoon(t *testing.T) {
	var r Receiver
	r.Open(Ample + 1)
	r.Take(r.Left())
	assert.False(t, r.Refund(soon-1))
	assert.True(t, r.Refund(1))
}

// Who has enough gets more only as long as much is left for others.
func TestAmpleGrantsLeaveMuchToOthers(t *testing.T) {
	var r Receiver
	r.Open(Ample)
	pool := Pool(2 * Ample)
	require.True(t, r.Grow(8*Ample, &pool))
	assert.EqualValues(t, Ample+Ample/2, r.Promised())
	assert.EqualValues(t, Ample+Ample/2, pool)
}

func TestCreditGrows(t *testing.T) {
	var r Receiver
	r.Open(100)
	pool := Pool(5000)
	var sizes []uint32
	for r.Grow(4000, &pool) {
		sizes = append(sizes, r.size)
	}
	assert.Equal(t, []uint32{1124, 2248, 4000}, sizes)
	assert.EqualValues(t, 1100, pool)

	r = Receiver{}
	r.Open(100)
	assert.True(t, r.Grow(4000, &pool))
	assert.True(t, r.Grow(4000, &pool))
	assert.EqualValues(t, 1200, r.size)
	assert.False(t, r.Grow(4000, &pool), "nothing is left")
}

// The first grant counts once, even when it is nothing or the numbers have come
// round to zero.
func TestCreditOpensOnce(t *testing.T) {
	var s Sender
	s.Open(0)
	assert.Zero(t, s.Available())
	require.NoError(t, s.Update(50))
	require.True(t, s.Spend(50))
	s.Open(50)
	assert.Zero(t, s.Available())
	s = Sender{opened: true, used: 0, granted: 0}
	s.Open(50)
	assert.Zero(t, s.Available())
}

// advertise has a header leave.
func (r *Receiver) advertise() uint32 {
	r.Told()
	return r.Granted()
}
