package sm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// missed has rank 0 write a record whose store nobody can see yet as rank 1 says that it sleeps, and rank 0 see that too late to ring. It returns
// how many frames rank 1 has got before.
func (p *pair) missed() int {
	p.t.Helper()
	require.True(p.t, p.modules[1].Doze())
	require.True(p.t, p.ep[0].pipe.out.whole(frame(8)))
	require.False(p.t, p.rung(1))
	return len(p.recv[1].Frames)
}

// wakes has a rank whose sleep a timer has ended poll, as the engine does.
func (p *pair) wakes(rank int) {
	p.modules[rank].Wake()
	p.modules[rank].Progress()
}

// A rank that sleeps looks again after a millisecond, so that it misses nothing for longer.
func TestASleeperLooksAgain(t *testing.T) {
	p := connect(t)
	got := p.missed()
	p.loop.Advance(firstAgain - 1)
	require.Equal(t, 1, p.loop.Timers())
	p.loop.Advance(1)
	require.Zero(t, p.loop.Timers())
	p.wakes(1)
	require.Len(t, p.recv[1].Frames, got+1)
}

// Who sleeps on looks ever more seldom, and at last each second. A record begins it anew, and so does nothing else.
func TestASleeperLooksEverMoreSeldom(t *testing.T) {
	p := connect(t)
	for _, pause := range []time.Duration{1, 8, 64, 512, 1000, 1000} {
		pause *= time.Millisecond
		require.True(t, p.modules[1].Doze())
		p.loop.Advance(pause - 1)
		require.Equal(t, 1, p.loop.Timers(), "%v", pause)
		p.loop.Advance(1)
		require.Zero(t, p.loop.Timers(), "%v", pause)
		p.wakes(1)
	}
	got := p.missed()
	p.loop.Advance(mostAgain)
	p.wakes(1)
	require.Len(t, p.recv[1].Frames, got+1)
	got = p.missed()
	p.loop.Advance(firstAgain)
	p.wakes(1)
	require.Len(t, p.recv[1].Frames, got+1)
}

// It looks again so long after it has last said that it sleeps. Timers are not set more often than they fire.
func TestTheTimeBeginsWithTheLastWord(t *testing.T) {
	p := connect(t)
	require.True(t, p.modules[1].Doze())
	p.loop.Advance(firstAgain / 2)
	p.wakes(1)
	got := p.missed()
	p.loop.Advance(firstAgain / 2)
	require.Equal(t, 1, p.loop.Timers(), "it has said so half the time ago")
	p.loop.Advance(firstAgain / 2)
	require.Zero(t, p.loop.Timers())
	p.wakes(1)
	require.Len(t, p.recv[1].Frames, got+1)
}

// A writer waits until its word can be seen unless it knows that the peer looks again.
func TestWhoIsHasty(t *testing.T) {
	p := connect(t)
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	p.until("received", func() bool { return len(p.recv[1].Frames) > 0 })
	assert.Equal(t, inOrder, p.ep[1].pipe.out.hasty)

	c := unconnectedOf(t, crowded{})
	c.connect()
	require.Equal(t, btl.Done, c.ep[0].Send(frame(8), 0))
	c.until("received", func() bool { return len(c.recv[1].Frames) > 0 })
	assert.False(t, c.ep[1].pipe.out.hasty, "in a crowd nobody looks again")
	require.True(t, c.modules[1].Doze())
	assert.Zero(t, c.loop.Timers())
}

// Nothing is left of it when the module is closed, and where there is no connection there is nothing to look at.
func TestASleeperWithoutConnectionsDoesNotLook(t *testing.T) {
	p := unconnected(t)
	require.True(t, p.modules[1].Doze())
	require.Zero(t, p.loop.Timers())
	p.connect()
	require.True(t, p.modules[1].Doze())
	require.Equal(t, 1, p.loop.Timers())
	require.NoError(t, p.modules[1].Close())
	require.Zero(t, p.loop.Timers())
	require.True(t, p.modules[1].Doze())
	require.Zero(t, p.loop.Timers())
}
