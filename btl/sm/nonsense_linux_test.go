package sm

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/test/need"
)

// nonsense is a word that a ring may be read to have: any, or one that makes some sense.
func nonsense(r *rand.Rand, ring int) uint64 {
	switch r.IntN(4) {
	case 0:
		return r.Uint64()
	case 1:
		return 0
	case 2:
		return wordOf(1+r.IntN(6), r.IntN(80), r.IntN(2*ring))
	}
	return wordOf(1+r.IntN(5), 1+r.IntN(btl.MaxHeader), r.IntN(9000))
}

// A peer that writes nonsense all over the memory, all the time while it is read, breaks this
// connection at the worst: what is handed over keeps to the bounds of the contract.
func TestNonsenseWhileItIsRead(t *testing.T) {
	for seed := range need.Seeds(t, 20, 5000) {
		t.Run("", func(t *testing.T) { nonsenseWhileItIsRead(t, seed) }) // its sockets are closed at its end
	}
}

func nonsenseWhileItIsRead(t *testing.T, seed uint64) {
	p := connect(t)
	mine, theirs := p.ep[0].pipe, p.ep[1].pipe
	slots, store, words := theirs.out.slots, theirs.out.store, theirs.mem[:page]
	bunches := theirs.in.store // which both sides write
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { // the peer, by its own mapping
		r := rand.New(rand.NewPCG(seed, 1))
		for !stop.Load() {
			at(store, r.IntN(len(store)/line)*line).Store(nonsense(r, len(store)))
			at(bunches, r.IntN(len(bunches)/line)*line).Store(nonsense(r, len(bunches)))
			at(slots, r.IntN(len(slots)/slotSize)*slotSize).Store(nonsense(r, len(store))%oneTurn | oneTurn)
			at(slots, theirs.out.slot).Store(nonsense(r, len(store))%oneTurn | oneTurn) // where it is read first
			if r.IntN(50) == 0 {
				at(words, r.IntN(page/8)*8).Store(r.Uint64())
			}
		}
	})
	size := []int{5000, 8}[seed%2] // short ones go into bunches
	header := 0
	p.recv[0].OnBegin = func(h []byte, size int) error {
		header = max(header, len(h))
		assert.True(t, size > 0 && size <= p.ep[0].limit)
		return nil
	}
	for range 2000 {
		if p.recv[0].Downs > 0 {
			break
		}
		p.modules[0].Progress()
		p.ep[0].Send(frame(size), 0)
		p.loop.Turn()
		if p.modules[0].Doze() {
			p.modules[0].Wake()
		}
	}
	stop.Store(true)
	wg.Wait()
	for _, f := range p.recv[0].Frames {
		header = max(header, len(f.Header))
		assert.LessOrEqual(t, len(f.Payload), p.ep[0].limit)
	}
	assert.LessOrEqual(t, header, btl.MaxHeader)
	require.LessOrEqual(t, p.recv[0].Downs, 1)
	if p.recv[0].Downs == 1 {
		// Where a loan has a wrong address there may be memory or not; one may seem to be taken back.
		assert.Regexp(t, "malformed|reading the memory of process|taken back", p.recv[0].Err.Error())
		assert.Nil(t, mine.mem, "it is unmapped")
	}
	require.NoError(t, p.ep[0].Close())
	require.NoError(t, p.ep[1].Close())
}

// A peer that has closed its socket has written what it had to say. One that goes on to write all the same is not read for ever.
func TestWhoWritesAfterItsEnd(t *testing.T) {
	p := connect(t)
	require.NoError(t, sever(p.ep[0]))
	const enough = 20_000 // rings full of them
	writes := func(btltest.Frame) error {
		if len(p.recv[1].Frames) < enough {
			p.ep[0].pipe.out.whole(frame(8))
		}
		return nil
	}
	p.recv[1].OnFrame = writes
	require.NoError(t, writes(btltest.Frame{}))
	p.ep[1].event()
	require.Equal(t, 1, p.recv[1].Downs)
	require.Less(t, len(p.recv[1].Frames), enough)
}

// A peer rings once for each sleep. One that rings all the time is heard in parts, and the others in between.
func TestWhoRingsWithoutEnd(t *testing.T) {
	p := connect(t)
	n, errno := p.ep[0].pipe.conn.Send(bytes.Repeat(bells[:], 10_000))
	require.Zero(t, errno)
	require.True(t, p.ep[1].event())
	require.True(t, p.rung(1))
	polls := 1
	for ; p.rung(1); polls++ {
		p.ep[1].event()
	}
	require.LessOrEqual(t, polls, n/bellsAtOnce/bellReads+2)
	require.Zero(t, p.recv[1].Downs)
}
