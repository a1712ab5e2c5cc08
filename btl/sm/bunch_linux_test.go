package sm

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// fillUp writes frames of that size until there is no more room, and returns how many.
func fillUp(w *writer, size int) (n int) {
	for w.whole(&btl.Frame{Header: make([]byte, 32), Payload: make([]byte, size), Size: size}) {
		n++
	}
	return n
}

// A reader that is behind is no reason to wait as long as there are bytes: a ring takes as many frames as it has room for.
func TestShortFramesToOneThatIsBehind(t *testing.T) {
	for _, ring := range []int{minRing, 256 << 10, 1 << 20} {
		for _, size := range []int{0, 8, 24, 64, 120, 250, 500, 800, 1000, 4000} {
			w, in := newRing(ring)
			n := fillUp(w, size)
			assert.GreaterOrEqual(t, n, ring*3/4/((wordSize+32+size+line-1)/line*line), "%d bytes in a ring of %d", size, ring)
			got := 0
			for ; ; got++ {
				if _, ok := read(t, in); !ok {
					break
				}
			}
			assert.Equal(t, n, got)
			assert.GreaterOrEqual(t, fillUp(w, size), n/2, "it has been read")
		}
	}
}

// Who reads a bunch to its end puts an end to it; what is written then is a record.
func TestBunchThatIsReadUp(t *testing.T) {
	w, in := newRing(minRing)
	f := frame(8)
	for w.bunch == nil {
		require.True(t, w.whole(f))
	}
	for {
		if _, ok := read(t, in); !ok {
			break
		}
	}
	require.False(t, in.amid())
	bunch, count := w.bunch, w.count
	require.False(t, at(bunch, 0).CompareAndSwap(uint64(w.filled), 0), "it is ended")
	for range 2 {
		require.True(t, w.whole(f))
	}
	require.Equal(t, count+2, w.count)
	for range 2 {
		c, ok := read(t, in)
		require.True(t, ok)
		require.Equal(t, f.Header, c.header)
	}
}

// Frames are in order, and none is missing, wherever the reader is when the writer writes.
func TestBunchesWhileTheyAreRead(t *testing.T) {
	const frames = 100_000
	w, in := newRing(minRing)
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(1, 1))
		for i := range uint64(frames) {
			payload := binary.LittleEndian.AppendUint64(nil, i)
			f := &btl.Frame{Header: []byte("header"), Payload: append(payload, make([]byte, r.IntN(1<<r.IntN(11)))...)}
			f.Size = len(f.Payload)
			for !w.whole(f) {
				runtime.Gosched()
			}
		}
	})
	bunched := 0
	for i := uint64(0); i < frames; {
		c, ok := read(t, in)
		if !ok {
			runtime.Gosched()
			continue
		}
		if in.amid() {
			bunched++
		}
		require.Equal(t, i, binary.LittleEndian.Uint64(c.payload))
		i++
	}
	wg.Wait()
	require.NoError(t, w.err)
	require.NotZero(t, bunched)
}

// A rank that computes, and polls nothing, is sent thousands of short messages before one has to wait. They arrive in order, and
// then the goodbye; none of them is left in a bunch when the reader sleeps.
func TestManyMessagesToOneThatComputes(t *testing.T) {
	const many = 4000
	p := connect(t)
	send := func(from, to int) {
		for i := from; i < to; i++ {
			f := frame(8)
			binary.LittleEndian.PutUint64(f.Payload, uint64(i))
			require.Equal(t, btl.Done, p.ep[0].Send(f, 0), i)
		}
	}
	p.recv[1].Frames = nil
	send(0, many)
	require.NotNil(t, p.ep[0].pipe.out.bunch)
	p.until("arrived", func() bool { return len(p.recv[1].Frames) == many })
	p.until("asleep", p.modules[1].Doze)
	send(many, many+1)
	require.True(t, p.rung(1))
	p.until("arrived too", func() bool { return len(p.recv[1].Frames) > many })
	send(many+1, 2*many)
	require.NoError(t, p.ep[0].Close())
	p.until("the end", func() bool { return p.recv[1].Downs == 1 })
	require.ErrorIs(t, p.recv[1].Err, btl.ErrPeerClosed)
	require.Len(t, p.recv[1].Frames, 2*many)
	for i, f := range p.recv[1].Frames {
		require.Equal(t, uint64(i), binary.LittleEndian.Uint64([]byte(f.Payload)))
	}
}

// Whatever a bunch says, what is found there lies in it, or it is an error.
func TestNonsenseInBunches(t *testing.T) {
	frame := wordOf(kindWhole, 16, 8)
	for name, c := range map[string]struct{ fill, word uint64 }{
		"less than nothing":     {^uint64(7), frame},
		"nothing":               {ended, frame},
		"more than there is":    {bunchSize + wordSize, frame},
		"no whole word":         {wordSize + 33, frame},
		"beyond what is filled": {wordSize + 24, frame},
		"an endless one":        {bunchSize, wordOf(kindWhole, 16, -1)},
		"no header":             {bunchSize, wordOf(kindWhole, 0, 8)},
		"a long header":         {bunchSize, wordOf(kindWhole, btl.MaxHeader+1, 8)},
		"another kind":          {bunchSize, wordOf(kindLent, 16, 8)},
		"with a turn":           {bunchSize, frame | oneTurn},
	} {
		_, in := newRing(minRing)
		block := in.store[:bunchSize]
		at(block, 0).Store(c.fill)
		at(block, wordSize).Store(c.word)
		h, _, err := in.fromBunch(block)
		assert.Nil(t, h, name)
		assert.ErrorIs(t, err, errBunch, name)
	}
}
