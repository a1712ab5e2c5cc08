package pml

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/wire"
)

// What stays after a peak is bounded: of operations, frames, envelopes and the window.
func TestPeakIsGivenBack(t *testing.T) {
	const peak = 5 * keptSpare
	p := new(PML)
	pe := &peer{pml: p}
	var line delivery.Line
	before := heapInUse()
	ops, frames, inbounds := make([]*operation, peak), make([]*txFrame, peak), make([]*inbound, peak)
	for i := range peak {
		ops[i], frames[i], inbounds[i] = p.newOperation(), p.newFrame(pe), p.newInbound(pe, &wire.Header{}, 0)
		pe.sent.Add(&frames[i].Frame)
		line.Passed(&frames[i].Frame)
	}
	require.Len(t, p.ops.chunks, peak/chunkSize)
	require.NoError(t, pe.sent.Acknowledge(peak, func(f *delivery.Frame) { p.freeFrame(frameOf(f)) }))
	for i := range peak {
		p.freeOperation(ops[(i*7)%peak]) // in another order
		p.freeInbound(inbounds[i])
	}
	ops, frames, inbounds = nil, nil, nil
	after := heapInUse()
	require.Less(t, after, before+12<<20, "of %d bytes of operations alone at the peak", peak*unsafe.Sizeof(operation{}))
	require.Equal(t, keptChunks, len(p.ops.chunks)-len(p.ops.holes))
	runtime.KeepAlive([]any{p, pe, ops, frames, inbounds})

	// What is kept is used before anything is made.
	require.Zero(t, testing.AllocsPerRun(1, func() {
		for range keptSpare {
			op, f, in := p.newOperation(), p.newFrame(pe), p.newInbound(pe, &wire.Header{}, 0)
			p.freeOperation(op)
			p.freeFrame(f)
			p.freeInbound(in)
		}
	}))
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Whatever comes and goes, an operation is in use once, is found by its handle while it is
// and never after that, whether or not its chunk was given back.
func TestSlabProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := new(PML)
		var live []*operation
		var stale []uint64
		handles := make(map[uint64]bool)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			for range rapid.IntRange(0, 2*chunkSize).Draw(t, "new") {
				op := p.newOperation()
				require.False(t, handles[op.handle()], "a handle that was given out before")
				handles[op.handle()] = true
				live = append(live, op)
			}
			for range rapid.IntRange(0, len(live)).Draw(t, "ended") {
				i := len(live) * 5 / 7
				stale = append(stale, live[i].handle())
				p.freeOperation(live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
			// Those beyond what is kept are given back as if there were a peak.
			if rapid.Bool().Draw(t, "give back") {
				p.ops.free = nil
				for at, c := range p.ops.chunks {
					switch {
					case c == nil:
					case c.vacant():
						p.ops.giveBack(at)
					default:
						p.ops.offer(c)
					}
				}
			}
			seen := 0
			p.eachOperation(func(*operation) { seen++ })
			require.Equal(t, len(live), seen)
			for _, op := range live {
				require.Same(t, op, p.lookup(op.handle(), nil, false))
			}
			for _, h := range stale {
				require.Nil(t, p.lookup(h, nil, false))
			}
		}
	})
}

// A request that outlives the chunk of its operation still says that it has ended.
func TestRequestOfAChunkGivenBack(t *testing.T) {
	p := new(PML)
	r := requestOf(p.newOperation())
	p.freeOperation(r.op)
	p.ops.free = nil
	p.ops.giveBack(0)
	assert.True(t, r.over())
	_, err := r.finish()
	assert.ErrorIs(t, err, ErrFinished)
	again := p.newOperation()
	assert.Equal(t, r.op.index, again.index, "the place is used again")
	assert.NotEqual(t, r.gen, again.gen)
}

// Giving back looks at all operations, and seldom: a slab that empties in any order, and
// one of which little is used again and again, are looked at a few times.
func TestShrinkingIsSeldom(t *testing.T) {
	const peak = 100 * chunkSize
	p := new(PML)
	var live []*operation
	for range peak {
		live = append(live, p.newOperation())
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(peak, func(i, j int) { live[i], live[j] = live[j], live[i] })
	looks, low := 0, p.ops.low
	end := func(op *operation) {
		p.freeOperation(op)
		if p.ops.low != low {
			looks, low = looks+1, p.ops.low
		}
	}
	for _, op := range live[3:] {
		end(op)
	}
	for range peak {
		a, b := p.newOperation(), p.newOperation()
		end(a)
		end(b)
	}
	assert.LessOrEqual(t, looks, bits.Len(peak))
	for _, op := range live[:3] {
		end(op)
	}
	assert.Len(t, p.ops.chunks, 100)
	assert.Len(t, p.ops.holes, 100-keptChunks)
}
