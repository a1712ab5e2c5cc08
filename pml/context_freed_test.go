package pml

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/pml/wire"
)

func TestIDSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s idSet
		const ids = 320
		base := rapid.SampledFrom([]uint64{0, 1<<32 - 70, ^uint64(0) - (ids - 1)}).Draw(t, "base")
		added := make(map[uint64]bool)
		add := func(n uint64) {
			s.add(base + n)
			added[base+n] = true
		}
		for _, n := range rapid.SliceOf(rapid.Uint64Range(0, ids-1)).Draw(t, "ids") {
			add(n)
		}
		for _, from := range rapid.SliceOfN(rapid.Uint64Range(0, ids-100), 0, 4).Draw(t, "stretches") {
			for n := range uint64(100) {
				add(from + n)
			}
		}
		for n := range uint64(ids) {
			assert.Equal(t, added[base+n], s.has(base+n))
		}
		for i, sp := range s.spans {
			assert.LessOrEqual(t, sp.first, sp.last)
			if i > 0 {
				assert.Greater(t, sp.first, s.spans[i-1].last+1, "neighbours are one span")
			}
		}
		for row := range s.rows {
			_, full := s.find(row)
			assert.False(t, full, "a row is full or is not")
		}
	})
}

// Two groups that have a leader in common make communicators by turns for days. Each process sees every other id.
func TestEveryOtherCommunicatorTakesLittle(t *testing.T) {
	var s idSet
	const n = 1 << 16
	for comm := uint64(0); comm < n; comm += 2 {
		for leader := range uint64(2) {
			s.add(2 * ContextID(int(leader), uint32(comm)))
			s.add(2*ContextID(int(leader), uint32(comm)) + 1)
		}
	}
	assert.LessOrEqual(t, len(s.rows)+len(s.spans), 2*2*n/64)
}

// Contexts that come and go in any order leave nothing but a few spans.
func TestFreedContextsAreForgotten(t *testing.T) {
	pe, _, _ := receiving(t)
	p := pe.pml
	const n = 1000
	var all []*Context
	for id := range uint64(n) {
		c := p.contextOf(id + 1)
		c.group = ConsecutiveGroup(0, 2)
		all = append(all, c)
	}
	rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, c := range all {
		c.free()
		require.Same(t, p.buried, p.contextOf(c.id))
	}
	assert.Len(t, p.contexts, 1)
	assert.LessOrEqual(t, len(p.freed.spans)+len(p.freed.rows), 3)
	p.engine.Unlock()
	defer p.engine.Lock()
	_, err := p.NewContext(7, ConsecutiveGroup(0, 2), Manner{})
	assert.ErrorContains(t, err, "exists already")
}

// Programs that make communicators for a moment free them beside operations of others, and beside the memory of those that there were
// once. Free looks through them only if the context has receives that are posted.
func TestFreeLooksThroughNoOperationsInVain(t *testing.T) {
	pe, _, _ := receiving(t)
	p := pe.pml
	for range 1 << 16 {
		p.newOperation()
	}
	quickest := func(f func()) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 30 {
			begun := time.Now()
			f()
			best = min(best, time.Since(begun))
		}
		return best
	}
	looks := quickest(func() { p.eachOperation(func(*operation) {}) })
	id := uint64(100)
	frees := quickest(func() {
		id++
		p.contextOf(id).free()
	})
	revokes := quickest(func() {
		id++
		p.contextOf(id).Revoke(assert.AnError)
	})
	assert.Less(t, frees, looks)
	assert.Less(t, revokes, looks)
}

// What comes for a context that was freed keeps nothing of its lane waiting.
func TestLaneOfAFreedContext(t *testing.T) {
	pe, ep, c := receiving(t)
	p, r := pe.pml, pe.rails[0]
	gone := p.contextOf(9)
	gone.group = c.group
	gone.free()
	buf := make([]byte, 3)
	op, err := c.irecv(buf, nil, 1, 0)
	require.NoError(t, err)

	next := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: 1, Seq: 1, LaneSeq: 1, Size: 3}
	require.NoError(t, r.Deliver(encoded(next), []byte("new")))
	assert.False(t, op.done, "an older one of its lane is missing")
	late := request(0, 100)
	late.Context, late.Seq = 9, 77
	require.NoError(t, r.Deliver(encoded(late), nil))
	assert.True(t, op.done)
	assert.Equal(t, "new", string(buf))
	answer := lastOf(t, ep, wire.Clear)
	assert.Zero(t, answer.Accept)
	assert.Zero(t, answer.Flags&wire.FlagRefused, "that is no error of the sender's")
	late.Frame, late.LaneSeq = 2, 1
	assert.Error(t, r.Deliver(encoded(late), nil), "a number that was used")
}

// A context that was revoked takes no message, whatever its length and by whichever path that would go.
func TestNothingIsSentInARevokedContext(t *testing.T) {
	pe, k, c := keptPair(t)
	require.True(t, c.sendShort([]byte{1}, 1, 5))
	c.Revoke(assert.AnError)
	sent := len(k.sent)
	pe.pml.engine.Unlock()
	defer pe.pml.engine.Lock()
	for _, size := range []int{0, 1, copyFirst, copyFirst + 1} {
		_, err := c.Isend(make([]byte, size), nil, 1, 5, Standard)
		require.ErrorIs(t, err, assert.AnError, "%d bytes", size)
		require.ErrorIs(t, c.Send(t.Context(), make([]byte, size), nil, 1, 5, Standard), assert.AnError, "%d bytes", size)
	}
	require.Len(t, k.sent, sent)
}

// Where a member never makes the context nobody waits for what was sent to it, in whatever way. It goes on by itself.
func TestNobodyWaitsForASendInVain(t *testing.T) {
	pe, _, c := keptPair(t)
	p := pe.pml
	op, err := c.isend(make([]byte, 1<<20), nil, 1, 5, Standard)
	require.NoError(t, err)
	alone, err := c.isend(make([]byte, 1<<20), nil, 1, 5, Standard)
	require.NoError(t, err)
	c.Unmake(assert.AnError)
	_, err = p.awaitAlone(t.Context(), alone)
	require.ErrorIs(t, err, assert.AnError)
	assert.True(t, alone.orphan)
	p.engine.Unlock()
	defer p.engine.Lock()
	failed, err := WaitAll(t.Context(), []Request{requestOf(op)}, nil)
	require.NoError(t, err)
	require.Len(t, failed, 1)
	assert.ErrorIs(t, failed[0].Err, assert.AnError)
	assert.True(t, op.orphan)
	assert.False(t, op.done)
}
