package sm

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// A rank that sleeps is woken by what arrives, once.
func TestASleeperIsWokenByWhatArrives(t *testing.T) {
	p := connect(t)
	require.True(t, p.modules[1].Doze())
	require.False(t, p.rung(1))
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	require.True(t, p.rung(1))
	bells := p.ep[0].pipe.bells
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	assert.Equal(t, bells, p.ep[0].pipe.bells, "one bell is enough")
	require.False(t, p.modules[1].Doze(), "there is something to read")
}

// What is sent while nobody polls may find no room. Then the sender is woken when there is room:
// a program may send from one thread while its background goroutine sleeps, and call nothing else.
func TestASleeperIsWokenByRoom(t *testing.T) {
	p := connect(t)
	require.True(t, p.modules[0].Doze())
	var sent []*btl.Frame
	for {
		f := frame(1000)
		r := p.ep[0].Send(f, 0)
		if sent = append(sent, f); r == btl.Taken {
			break
		}
		require.Equal(t, btl.Done, r)
	}
	for p.ep[1].receive() {
	}
	require.True(t, p.rung(0), "there is room, and nobody has been told")
	p.loop.Poll()
	assert.Equal(t, sent[len(sent)-1:], p.recv[0].Freed)
	for p.ep[1].receive() {
	}
	assert.Len(t, p.recv[1].Frames, len(sent))
}

// Who has something for a sleeper wakes it, though another goroutine of the sleeper's has just sent what finds no room: it
// waits for that too from then on. Once it was woken, or waits for something else, it is left alone.
func TestASleeperThatWaitsForMoreIsWoken(t *testing.T) {
	s := side{word: new(atomic.Uint64)}
	s.word.Store(sleeps | needRoom)
	assert.True(t, s.sleepsFor(sleeps, sleeps))
	assert.Zero(t, s.word.Load())
	assert.False(t, s.sleepsFor(sleeps, sleeps))
	s.word.Store(sleeps)
	assert.False(t, s.sleepsFor(needRoom, sleeps|needRoom))
	assert.True(t, s.sleepsFor(sleeps, sleeps))
}

// Where the system has no memory for a bell it is rung later: the sleeper would sleep for ever. It is not when the connection is over.
func TestASleeperIsWokenThoughTheSystemRefusesTheBell(t *testing.T) {
	p := connect(t)
	refused := func() {
		require.True(t, p.modules[1].Doze())
		hears := p.ep[0].pipe.conn
		p.ep[0].pipe.conn = rawio.NewConn(-1)
		require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
		p.loop.Advance(ringAgain)
		require.False(t, p.rung(1))
		p.ep[0].pipe.conn = hears
	}
	timers := p.loop.Timers()
	refused()
	p.loop.Advance(ringAgain)
	require.True(t, p.rung(1))
	require.Equal(t, timers, p.loop.Timers())
	p.until("awake", func() bool { return !p.rung(1) })
	refused()
	p.ep[0].Abort()
	require.Zero(t, p.loop.Timers())
}
