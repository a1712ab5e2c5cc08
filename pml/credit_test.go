package pml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/pml/rails"
)

func TestCreditPrice(t *testing.T) {
	for n, units := range map[int]uint32{0: 7, 1: 8, 64: 8, 65: 9, 1024: 23, 256 << 10: 4103} {
		assert.Equal(t, units, creditFor(n), "%d bytes", n)
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
		pool := rapid.Uint64Range(0, 6000).Draw(t, "pool")
		all := pool
		start := rapid.SampledFrom([]uint32{0, 1<<31 - 500, 1<<32 - 500}).Draw(t, "start")

		s := senderCredit{granted: start, used: start, opened: true}
		r := receiverCredit{size: first, granted: start + first, used: start, advertised: start + first}
		require.NoError(t, s.update(start+first))
		var flying, held, grants []uint32
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				if u := rapid.Uint32Range(envelopeUnits, 600).Draw(t, "units"); s.spend(u) {
					flying = append(flying, u)
				}
			case 1: // a message arrives and waits for its receive
				if len(flying) > 0 {
					require.NoError(t, r.charge(flying[0]))
					held, flying = append(held, flying[0]), flying[1:]
				}
			case 2: // one is received
				if len(held) > 0 {
					r.refund(held[0])
					held = held[1:]
					grants = append(grants, r.advertise())
				}
			case 3:
				r.grow(limit, &pool)
				grants = append(grants, r.advertise())
			case 4: // a grant arrives: any, in any order
				if len(grants) > 0 {
					require.NoError(t, s.update(rapid.SampledFrom(grants).Draw(t, "grant")))
				}
			}
			outstanding := sum(flying) + sum(held)
			require.LessOrEqual(t, outstanding, uint64(r.size), "more outstanding than promised")
			require.LessOrEqual(t, r.size, max(first, limit))
			require.Equal(t, all, pool+uint64(r.size-first), "promises beyond the first grant come from the pool")
		}
		for _, u := range append(held, flying...) {
			r.refund(u)
		}
		require.NoError(t, s.update(r.advertise()))
		require.Equal(t, r.size, s.available())
	})
}

func sum(units []uint32) (total uint64) {
	for _, u := range units {
		total += uint64(u)
	}
	return total
}

func TestCreditRefusesWhatWasNotGranted(t *testing.T) {
	var r receiverCredit
	r.open(10)
	require.NoError(t, r.charge(6))
	assert.ErrorContains(t, r.charge(6), "message of 6 credit units, but only 4 are left")
	assert.ErrorContains(t, r.charge(1<<31+5), "but only 4 are left", "a wild size")
}

// The peer hears of returned credit before it has used up what it knows of.
func TestCreditIsAdvertisedInTime(t *testing.T) {
	var r receiverCredit
	r.open(1000)
	due := uint32(0)
	for returned := uint32(0); returned < 1000; returned += 10 {
		require.NoError(t, r.charge(10))
		if r.refund(10) {
			due = returned
			break
		}
	}
	assert.InDelta(t, 500, due, 10)
	r.advertise()
	require.NoError(t, r.charge(10))
	assert.False(t, r.refund(10), "just told")
}

func TestCreditGrows(t *testing.T) {
	var r receiverCredit
	r.open(100)
	pool := uint64(5000)
	var sizes []uint32
	for r.grow(4000, &pool) {
		sizes = append(sizes, r.size)
	}
	assert.Equal(t, []uint32{1124, 2248, 4000}, sizes)
	assert.EqualValues(t, 1100, pool)

	r = receiverCredit{}
	r.open(100)
	assert.True(t, r.grow(4000, &pool))
	assert.True(t, r.grow(4000, &pool))
	assert.EqualValues(t, 1200, r.size)
	assert.False(t, r.grow(4000, &pool), "nothing is left")
}

// The first grant counts once, even when it is nothing or the numbers have come
// round to zero.
func TestCreditOpensOnce(t *testing.T) {
	var s senderCredit
	s.open(0)
	assert.Zero(t, s.available())
	require.NoError(t, s.update(50))
	require.True(t, s.spend(50))
	s.open(50)
	assert.Zero(t, s.available())
	s = senderCredit{opened: true, used: 0, granted: 0}
	s.open(50)
	assert.Zero(t, s.available())
}

// What a peer was promised beyond its first grant is there for others again when it
// fails or leaves: at once, but for what its messages take, and that when they go.
func TestCreditReturnsWhenAPeerIsGone(t *testing.T) {
	for _, state := range []rails.Stage{rails.Failed, rails.Closed} {
		pe, _, c := receiving(t)
		p := pe.pml
		p.tune.creditFirst, p.tune.creditMax, p.unpromised = 1<<16, 1<<20, 1<<20
		r := pe.rails[0]
		for range 3 {
			pe.starved()
		}
		for pe.grant.outstanding() <= 1<<16 {
			n := pe.received.next
			require.NoError(t, r.Deliver((&header{kind: frameEager, flags: flagCounted, frame: n, seq: n, laneSeq: n}).bytes(), make([]byte, 1<<20)))
		}
		n := pe.received.next
		half, err := r.Begin((&header{kind: frameEager, flags: flagCounted, frame: n, seq: n, laneSeq: n}).bytes(), 1<<20)
		require.NoError(t, err)
		r.Drop(half)
		promised, taken := pe.grant.size, pe.grant.outstanding()
		require.EqualValues(t, 1<<20-(promised-1<<16), p.unpromised)
		pe.fail(state, errors.New("it is gone"))
		require.EqualValues(t, 1<<20-(taken-1<<16), p.unpromised)
		require.Equal(t, state == rails.Closed, len(pe.partial) > 0)
		for range n + 1 {
			op, err := c.irecv(make([]byte, 1<<20), nil, 1, AnyTag)
			require.NoError(t, err)
			require.True(t, op.done)
		}
		require.EqualValues(t, 1<<20, p.unpromised)
	}
}
