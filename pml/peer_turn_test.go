package pml

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/rails"
)

// A queue is peers that are to be met, of a process of a crowd that meets two at a time.
type queue struct {
	*peer // another one
	peers []*peer
	met   []int
}

func inLine(t *testing.T, f func(t *testing.T, q *queue)) {
	synctest.Test(t, func(t *testing.T) {
		pe, _ := connected(t)
		q, p := &queue{peer: pe}, pe.pml
		p.turns.most = 2
		for rank := 2; rank < 8; rank++ {
			other := p.peerOf(rank)
			other.ways.Stage = rails.Resolving
			q.peers = append(q.peers, other)
			p.inTurn(other, func() { q.met = append(q.met, rank) })
		}
		f(t, q)
		for _, other := range q.peers {
			other.ways.Stage = rails.Failed
			other.endTurn()
		}
	})
}

// A process of a crowd begins a contact when another one is made, or has failed.
func TestContactsTakeTurns(t *testing.T) {
	inLine(t, func(t *testing.T, q *queue) {
		require.Equal(t, []int{2, 3}, q.met)
		require.False(t, q.peers[1].awaitsTurn())
		require.True(t, q.peers[2].awaitsTurn())
		q.peers[1].endTurn()
		q.peers[1].endTurn()
		q.pass(time.Millisecond)
		require.Equal(t, []int{2, 3, 4}, q.met)
		q.peers[0].fail(rails.Failed, assert.AnError)
		q.pass(time.Millisecond)
		require.Equal(t, []int{2, 3, 4, 5}, q.met)
	})
}

// A peer that has connected by itself, or has failed, needs no turn any more.
func TestWhoHasConnectedNeedsNoTurn(t *testing.T) {
	inLine(t, func(t *testing.T, q *queue) {
		q.peers[2].ways.Stage = rails.Known
		q.peers[3].ways.Stage = rails.Failed
		require.False(t, q.peers[2].awaitsTurn())
		q.peers[0].endTurn()
		q.pass(time.Millisecond)
		require.Equal(t, []int{2, 3, 6}, q.met)
	})
}

// A peer to which nothing leads does not hold up the others for ever.
func TestTurnsEnd(t *testing.T) {
	inLine(t, func(t *testing.T, q *queue) {
		q.pass(turnRails*rails.NextRail - 1)
		require.Equal(t, []int{2, 3}, q.met)
		q.pass(time.Millisecond)
		require.Equal(t, []int{2, 3, 4, 5}, q.met)
		q.pass(time.Minute)
		require.Len(t, q.met, 6)
	})
}

// A peer that waits for its turn does not count as silent meanwhile.
func TestWaitForATurnIsNoSilence(t *testing.T) {
	inLine(t, func(t *testing.T, q *queue) {
		q.pml.tune.peerTimeout = 30 * time.Second
		waiting := q.peers[4]
		beats := func(n int) {
			for range n {
				waiting.pml.beats.count++
				waiting.wanted = waiting.pml.beats.count
				waiting.checkPulse()
			}
		}
		beats(2 * rails.BeatsInTimeout)
		waiting.inLine, waiting.ways.Met = false, true
		beats(1)
		require.NoError(t, waiting.failure)
		beats(rails.BeatsInTimeout)
		require.ErrorContains(t, waiting.failure, "no sign of life", "it is missed from then on")
	})
}

// Elsewhere nobody waits for a turn.
func TestNoTurnsWithoutACrowd(t *testing.T) {
	for c, want := range map[Crowd]struct{ contacts, slow int }{
		{}:                            {0, 1},
		{Ranks: 4, Processors: 2}:     {64, 1},
		{Ranks: 64, Processors: 2}:    {4, 4},
		{Ranks: 1000, Processors: 2}:  {leastContacts, mostSlow},
		{Ranks: 1000, Processors: 64}: {leastContacts, 1},
	} {
		assert.Equal(t, want.contacts, c.contacts(), "%+v", c)
		assert.Equal(t, want.slow, c.slow(), "%+v", c)
	}
	pe, _ := connected(t)
	for range 1000 {
		met := false
		pe.pml.inTurn(pe, func() { met = true })
		require.True(t, met)
	}
	require.Nil(t, pe.turn)
}
