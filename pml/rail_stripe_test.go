package pml

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
)

// cable is a rail's transport as a model: it passes bytes on at a constant speed, and
// takes some of them off the sender's hands before.
type cable struct {
	rail   *rail
	speed  float64 // bytes a nanosecond
	buffer float64 // bytes it takes beyond those passed on
	given  float64 // bytes, ever
	passed float64
	at     float64 // the time up to which it has passed on
	held   []int   // sizes of the frames not taken whole
}

// Outstanding implements btl.Gauge.
func (w *cable) Outstanding() int { return int(w.given - w.passed) }

// advance passes on until a moment.
func (w *cable) advance(now float64) {
	w.passed = min(w.given, w.passed+(now-w.at)*w.speed)
	w.at = now
}

// next is when it takes the last byte of the first frame it holds.
func (w *cable) next() float64 {
	if len(w.held) == 0 {
		return math.Inf(1)
	}
	behind := 0
	for _, n := range w.held[1:] {
		behind += n
	}
	return w.at + max(0, w.given-float64(behind)-w.buffer-w.passed)/w.speed
}

// stripes sends one long message over rails and returns how long it takes, in
// nanoseconds, until the last byte has passed.
func stripes(pe *peer, cables []*cable, size uint64, start float64) float64 {
	now := start
	op := &operation{}
	op.accept = size
	pe.streams.push(op)
	for {
		for _, w := range cables {
			w.advance(now)
		}
		for pe.streams.head != nil {
			r, n := pe.dataRail(int(pe.pieceSize(op.left())), int64(now))
			if r == nil {
				break
			}
			w := cables[slices.Index(pe.rails, r)]
			w.given += float64(n)
			w.held = append(w.held, n)
			r.share.gave(n, int64(now))
			r.line.Take(&delivery.Frame{Frame: btl.Frame{Size: n}})
			if op.offset += uint64(n); op.offset == op.accept {
				pe.streams.pop()
			}
		}
		next := slices.MinFunc(cables, func(a, b *cable) int { return cmp.Compare(a.next(), b.next()) })
		if len(next.held) == 0 {
			break
		}
		now = next.next()
		next.advance(now)
		r := next.rail
		oldest := r.line.Newest()
		for oldest.Older() != nil {
			oldest = oldest.Older()
		}
		r.line.Release(oldest)
		next.held = next.held[1:]
		if r.gauge == nil {
			r.look(int64(now))
		}
	}
	for _, w := range cables {
		now = max(now, w.at+(w.given-w.passed)/w.speed)
	}
	for _, w := range cables {
		w.advance(now)
	}
	return now - start
}

func TestStripesFinishTogether(t *testing.T) {
	t.Run("a transport that tells when it passes on", func(t *testing.T) { testStripes(t, 0) })
	t.Run("a transport that takes 128 KB ahead", func(t *testing.T) { testStripes(t, 128<<10) })
	t.Run("a transport that takes 1 MB ahead", func(t *testing.T) { testStripes(t, 1<<20) })
}

// striped is a peer over rails of these speeds, in bytes a nanosecond.
func striped(t *testing.T, speeds []float64, buffer float64) (pe *peer, cables []*cable) {
	eng, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	t.Cleanup(eng.Close)
	pe = &peer{pml: &PML{engine: eng}}
	for _, v := range speeds {
		// The weights are wrong: all rails claim to be equal.
		r := &rail{weight: 1, attr: btl.Attr{MaxFrame: 1 << 20}}
		pe.also(r, rails.Up)
		w := &cable{rail: r, speed: v, buffer: buffer}
		if cables = append(cables, w); buffer > 0 {
			r.gauge = w
		}
	}
	return pe, cables
}

// The first message that goes over several rails is not held up by pieces that a slow one got before anybody knew
// that it is slow.
func TestASlowRailIsFoundOutByLittle(t *testing.T) {
	for _, speeds := range [][]float64{{0.125, 0.00125}, {0.00125, 0.125}, {0.125, 0.125, 0.125, 0.00125}} {
		for _, buffer := range []float64{0, 128 << 10} {
			pe, cables := striped(t, speeds, buffer)
			took := stripes(pe, cables, 16<<20, 1)
			require.LessOrEqual(t, took, (buffer+3*enough)/0.00125, "speeds %v, which take %v bytes ahead", speeds, buffer)
		}
	}
}

func testStripes(t *testing.T, buffer float64) {
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
				pe, cables := striped(t, speeds, buffer)
				sum := 0.0
				for _, v := range speeds {
					sum += v
				}
				now := stripes(pe, cables, 8<<20, 1) // to get to know them
				took := stripes(pe, cables, size, now+1)
				ideal := float64(size) / sum
				// What can not be shared out is a piece a rail.
				slack := float64(minPiece*len(speeds)) / sum
				require.LessOrEqual(t, took, 1.03*ideal+slack)
				require.GreaterOrEqual(t, took, math.Floor(ideal))
			})
		}
	}
}

// afar is a transport that holds frames until they have arrived, and has sent all but so many bytes.
type afar struct {
	btl.Endpoint
	unsent int
}

func (a *afar) Flush()      {}
func (a *afar) Queued() int { return a.unsent }

// Where a transport holds what is under way, a long way does not count as a rail that has enough to do.
func TestALongWayHasRoom(t *testing.T) {
	far := &afar{}
	for _, attr := range []btl.Attr{{MaxFrame: 256 << 10, Confirms: true}, {MaxFrame: 256 << 10, Retains: true}} {
		far.unsent = 0
		r := &rail{weight: 1, attr: attr}
		r.setEndpoint(far)
		holding(r, 16, 256<<10)
		require.True(t, r.hasRoom(), "all of it was sent")
		far.unsent = 256<<10 + 1
		require.False(t, r.hasRoom())
	}
	near := &rail{weight: 1, attr: btl.Attr{MaxFrame: 256 << 10}}
	near.setEndpoint(far)
	holding(near, maxHeld, 256<<10)
	require.False(t, near.hasRoom(), "it gives back what the system has taken")
}
