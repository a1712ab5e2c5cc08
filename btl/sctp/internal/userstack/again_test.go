package userstack

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sack is a SACK chunk; gaps are pairs of offsets.
func sack(up uint32, gaps ...uint16) []byte {
	b := []byte{chunkSack, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, up)
	b = binary.BigEndian.AppendUint32(b, 1<<20)
	b = binary.BigEndian.AppendUint16(b, uint16(len(gaps)/2))
	b = append(b, 0, 0)
	for _, g := range gaps {
		b = binary.BigEndian.AppendUint16(b, g)
	}
	return b
}

const trip = 5 * time.Millisecond

// times at which what is kept is sent again, from 1 ns on.
func (g *again) run(until time.Duration) (sent []time.Duration) {
	for now := int64(1); now > 0 && now <= int64(until); {
		at := now
		now = g.look(now, trip, func([]byte) bool { sent = append(sent, time.Duration(at-1)); return true })
	}
	return sent
}

func TestLostAgainIsSentAgain(t *testing.T) {
	var g again
	g.keep([]byte("packet"), []uint32{7, 9}, 1)
	assert.Equal(t, []time.Duration{trip, 3 * trip, 7 * trip}, g.run(time.Hour))
	assert.False(t, g.some.Load(), "the rest is for the timeout")
	assert.EqualValues(t, 6, g.sent.Load())
}

func TestAcknowledgedIsNotSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		chunk []byte
		kept  bool
	}{
		"nothing":         {sack(6), true},
		"one of two":      {sack(7), true},
		"both":            {sack(9), false},
		"beyond":          {sack(100), false},
		"one in a gap":    {sack(6, 3, 3), true},
		"both in gaps":    {sack(5, 2, 2, 4, 9), false},
		"beside the gaps": {sack(5, 3, 3, 5, 9), true},
		"cut short":       {sack(9)[:sackHead-1], true},
		"fewer gaps":      {sack(5, 2, 2, 4, 4)[:sackHead+gapSize+3], true},
	} {
		var g again
		g.keep([]byte("packet"), []uint32{7, 9}, 1)
		g.acknowledged(c.chunk)
		assert.Equal(t, c.kept, g.some.Load(), name)
	}
}

// However many are due, few are sent at once, and no acknowledgement takes long to read.
func TestBursts(t *testing.T) {
	var g again
	for i := range uint32(maxProbes) {
		g.keep(nil, []uint32{i}, 1)
	}
	sent, burst := 0, 0
	send := func([]byte) bool { sent++; burst++; return true }
	for now := int64(1); now > 0; {
		burst = 0
		now = g.look(now, trip, send)
		require.LessOrEqual(t, burst, maxBurst)
	}
	assert.Equal(t, maxProbes*maxTimes, sent)

	gaps := make([]uint16, 2*(maxGaps+1))
	for i := range gaps {
		gaps[i] = uint16(2 + i)
	}
	g.keep(nil, []uint32{uint32(gaps[2*maxGaps-2])}, 1)
	g.keep(nil, []uint32{uint32(gaps[2*maxGaps])}, 1)
	g.acknowledged(sack(0, gaps...))
	assert.Len(t, g.kept, 1, "the last gap is not read")
}

// Only the last packet of the latest window is kept.
func TestTail(t *testing.T) {
	var g again
	g.keepTail([]byte("first"), []uint32{7}, 1)
	g.keepTail([]byte("last"), []uint32{9}, 1)
	var sent []string
	send := func(b []byte) bool { sent = append(sent, string(b)); return true }
	g.look(1, trip, send)
	g.look(1+int64(trip), trip, send)
	assert.Equal(t, []string{"last"}, sent)
	g.keepTail([]byte("later"), []uint32{11}, 1)
	assert.Equal(t, []time.Duration{trip, 3 * trip, 7 * trip}, g.run(time.Hour))
	g.keepTail([]byte("latest"), []uint32{13}, 1)
	g.acknowledged(sack(11, 1, 1))
	assert.True(t, g.some.Load())
	g.acknowledged(sack(11, 2, 2))
	assert.False(t, g.some.Load())
}

func TestSentByPionIsKeptAnew(t *testing.T) {
	var g again
	g.keep([]byte("old"), []uint32{7, 8}, 1)
	g.keep([]byte("new"), []uint32{8}, 1)
	g.keep([]byte("newest"), []uint32{7}, 1)
	require.Len(t, g.kept, 2)
	assert.Equal(t, "new", string(g.kept[0].packet))
	for i := range uint32(2 * maxProbes) {
		g.keep([]byte("many"), []uint32{100 + i}, 1)
	}
	assert.Len(t, g.kept, maxProbes)
}

// Packets are kept, acknowledged and looked at in any order, and numbers wrap. Acknowledged
// packets are not sent; all others are sent as often as they may be.
func TestAgainAtRandom(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		base := uint32(0) - uint32(r.IntN(40))
		var g again
		open := make(map[uint32]int) // TSN: how often sent again
		acked := make(map[uint32]bool)
		for i := range uint32(20) {
			open[base+i] = 0
			g.keep(binary.BigEndian.AppendUint32(nil, base+i), []uint32{base + i}, 1)
		}
		now := int64(1)
		for now > 0 {
			if r.IntN(2) == 0 {
				up := uint16(r.IntN(4))
				first := up + 1 + uint16(r.IntN(20))
				last := first + uint16(r.IntN(3))
				g.acknowledged(sack(base+uint32(up)-1, first-up+1, last-up+1))
				for tsn := range open {
					if off := uint16(tsn - base); off < up || off >= first && off <= last {
						acked[tsn] = true
					}
				}
			}
			now = g.look(now, trip, func(b []byte) bool {
				tsn := binary.BigEndian.Uint32(b)
				require.False(t, acked[tsn], "seed %d: %d is acknowledged", seed, tsn)
				open[tsn]++
				return true
			})
		}
		for tsn, times := range open {
			require.True(t, acked[tsn] || times == maxTimes, "seed %d: %d was sent again %d times", seed, tsn, times)
		}
		require.Empty(t, g.kept)
	}
}
