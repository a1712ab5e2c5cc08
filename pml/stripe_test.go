package pml

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
)

// drain is a rail's transport as a model: it passes frames on one after the
// other, at a speed in bytes a nanosecond.
type drain struct {
	rail  *rail
	speed float64
	queue []int   // sizes
	ready float64 // when the first of them is done
}

// stripes sends one long message over rails of these speeds, with the rates that
// were measured before, and returns how long it takes in nanoseconds.
func stripes(pe *peer, rails []*drain, size uint64, now float64) float64 {
	start := now
	op := &operation{}
	op.accept = size
	pe.streams.push(op)
	for {
		for pe.streams.head != nil {
			r, n := pe.dataRail(int(pe.pieceSize(op.accept - op.offset)))
			if r == nil {
				break
			}
			for _, d := range rails {
				if d.rail != r {
					continue
				}
				if len(d.queue) == 0 {
					d.ready = now + float64(n)/d.speed
				}
				d.queue = append(d.queue, n)
				r.share.taken(n, int64(now))
			}
			if op.offset += uint64(n); op.offset == op.accept {
				pe.streams.pop()
			}
		}
		var next *drain
		for _, d := range rails {
			if len(d.queue) > 0 && (next == nil || d.ready < next.ready) {
				next = d
			}
		}
		if next == nil {
			return now - start
		}
		now = next.ready
		next.rail.share.released(next.queue[0], int64(now))
		if next.queue = next.queue[1:]; len(next.queue) > 0 {
			next.ready = now + float64(next.queue[0])/next.speed
		}
	}
}

func TestStripesFinishTogether(t *testing.T) {
	const gigabit = 0.125 // bytes a nanosecond
	for _, speeds := range [][]float64{
		{gigabit, gigabit},
		{gigabit, gigabit / 10},
		{gigabit / 10, gigabit},
		{gigabit, gigabit, gigabit, gigabit},
		{10 * gigabit, gigabit, gigabit / 2},
	} {
		for _, size := range []uint64{1 << 20, 4 << 20, 64 << 20} {
			t.Run(fmt.Sprint(speeds, size), func(t *testing.T) {
				eng, err := engine.New(engine.Options{Simulated: true})
				require.NoError(t, err)
				defer eng.Close()
				pe := &peer{pml: &PML{engine: eng}}
				var rails []*drain
				sum := 0.0
				for _, v := range speeds {
					// The weights are wrong: all rails claim to be equal.
					r := &rail{pml: pe.pml, peer: pe, up: true, weight: 1, attr: btl.Attr{MaxFrame: 1 << 20}}
					pe.rails = append(pe.rails, r)
					rails = append(rails, &drain{rail: r, speed: v})
					sum += v
				}
				now := stripes(pe, rails, 8<<20, 1) // to get to know them
				took := stripes(pe, rails, size, now+1)
				ideal := float64(size) / sum
				// What can not be shared out is a piece a rail.
				slack := float64(minPiece*len(speeds)) / sum
				require.LessOrEqual(t, took, 1.03*ideal+slack)
				require.GreaterOrEqual(t, took, math.Floor(ideal))
			})
		}
	}
}
