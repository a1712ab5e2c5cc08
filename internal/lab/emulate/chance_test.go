package emulate

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// trials is enough for the bounds below, which are six standard deviations: seeds
// are fixed, so that a test passes always or never.
func trials() int { return need.Times(100_000, 20_000_000) }

// within checks a share that was seen in n independent trials.
func within(t *testing.T, want float64, seen, n int, what string) {
	t.Helper()
	assert.InDelta(t, want, float64(seen)/float64(n), 6*math.Sqrt(want*(1-want)/float64(n)), what)
}

func TestChanceIsAsAsked(t *testing.T) {
	n := trials()
	p := newPath(Path{
		Delay: time.Millisecond, Jitter: time.Millisecond, Loss: Independent(0.01),
		Reorder: 0.02, Duplicate: 0.03, Corrupt: 0.04,
	}, 1, 0, 1)
	bits := make([]int, 8*100)
	var early time.Duration
	for i := range n {
		at := time.Duration(i) * time.Second // none waits for another
		f := p.next(at, EthernetHeader+100, false)
		if f.bit >= 0 {
			bits[f.bit]++
		}
		early += at + p.Delay - f.arrive
		require.LessOrEqual(t, (f.arrive - at - p.Delay - p.ReorderBy).Abs(), p.Jitter+p.ReorderBy)
	}
	kept := n - int(p.count.Lost)
	within(t, 0.01, int(p.count.Lost), n, "lost")
	within(t, 0.02, int(p.count.Reordered), kept, "held back")
	within(t, 0.03, int(p.count.Duplicated), kept, "doubled")
	within(t, 0.04, int(p.count.Corrupted), kept, "damaged")
	assert.InDelta(t, -0.02*float64(p.ReorderBy), float64(early)/float64(n), float64(p.Jitter)*6/math.Sqrt(3*float64(n))+1e4, "mean of jitter")
	for bit, hits := range bits {
		assert.InDelta(t, float64(p.count.Corrupted)/800, hits, 6*math.Sqrt(float64(p.count.Corrupted)/800)+1, "bit %d", bit)
	}
}

// runs counts lost frames and the runs that they come in.
func runs(l Loss, n int, seed uint64) (lost, runs int) {
	p := newPath(Path{Loss: l}, seed, 0, 1)
	before := false
	for range n {
		now := p.loss.next()
		if now {
			lost++
			if !before {
				runs++
			}
		}
		before = now
	}
	return lost, runs
}

func TestBursts(t *testing.T) {
	n := trials()
	for _, share := range []float64{0.001, 0.01, 0.1, 0.5} {
		for _, length := range []float64{2, 4, 20} {
			lost, count := runs(Bursts(share, length), n, 7)
			// A run's length is geometric: its variance is below its mean squared.
			deviation := math.Sqrt(2*float64(n)*share/length) * length / float64(n)
			assert.InDelta(t, share, float64(lost)/float64(n), 6*deviation, "share %v, runs of %v", share, length)
			assert.InDelta(t, length, float64(lost)/float64(count), 6*length/math.Sqrt(float64(n)*share/length), "share %v, runs of %v", share, length)
		}
	}
	lost, count := runs(Independent(0.1), n, 7)
	assert.InDelta(t, 1/0.9, float64(lost)/float64(count), 0.02, "independent loss has runs too")
}

func TestGilbertElliott(t *testing.T) {
	l := Loss{Good: 0.01, Bad: 0.5, Worsens: 0.02, Recovers: 0.1}
	assert.InDelta(t, 0.01*5/6+0.5/6, l.Share(), 1e-12)
	n := trials()
	lost, _ := runs(l, n, 3)
	assert.InDelta(t, l.Share(), float64(lost)/float64(n), 0.005)
}

// fates returns what happens to frames.
func fates(p Path, seed uint64, from, to, n int) (out []fate) {
	state := newPath(p, seed, from, to)
	for i := range n {
		out = append(out, state.next(time.Duration(i)*time.Second, 1514, false))
	}
	return out
}

var everything = Path{
	Delay: time.Millisecond, Jitter: time.Millisecond, Loss: Bursts(0.1, 2), Reorder: 0.1, Duplicate: 0.1, Corrupt: 0.1,
}

func TestSeedReplays(t *testing.T) {
	const n = 1000
	want := fates(everything, 42, 2, 3, n)
	assert.Equal(t, want, fates(everything, 42, 2, 3, n))
	assert.NotEqual(t, want, fates(everything, 43, 2, 3, n), "another seed")
	assert.NotEqual(t, want, fates(everything, 42, 3, 2, n), "the way back")
	assert.NotEqual(t, want, fates(everything, 42, 2, 4, n), "another path")
}

// What is lost does not depend on what else is switched on.
func TestChancesDoNotShiftEachOther(t *testing.T) {
	const n = 1000
	all, only := fates(everything, 1, 0, 1, n), fates(Path{Loss: everything.Loss}, 1, 0, 1, n)
	for i := range n {
		require.Equal(t, only[i].copies == 0, all[i].copies == 0, "frame %d", i)
	}
}

// Paths, and what chance decides on one, have nothing to do with each other: of
// any two the share that both lose is the product of their shares.
func TestPathsAreIndependent(t *testing.T) {
	n := trials() / 10
	const share = 0.3
	var lost [12][]bool
	for i := range lost {
		for _, f := range fates(Path{Loss: Independent(share)}, 5, i%4, i/4, n) {
			lost[i] = append(lost[i], f.copies == 0)
		}
	}
	for i := range lost {
		for j := range i {
			both := 0
			for k := range n {
				if lost[i][k] && lost[j][k] {
					both++
				}
			}
			within(t, share*share, both, n, "both are lost")
		}
	}
}
