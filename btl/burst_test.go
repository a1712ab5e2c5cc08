package btl_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// timedLoop is a loop of which only epoch and clock are asked for.
type timedLoop struct {
	btl.Loop
	epoch uint64
	now   int64
	reads int
}

func (l *timedLoop) Epoch() uint64 { return l.epoch }
func (l *timedLoop) Now() int64    { l.reads++; return l.now }

func (l *timedLoop) pass(d time.Duration) { l.now += int64(d) }

// Frames without a pause are one burst, for which the clock is seldom read.
func TestBurst(t *testing.T) {
	l, b := &timedLoop{epoch: 1}, new(btl.Burst)
	first := b.Number(l)
	l.pass(20 * time.Microsecond) // the system call
	b.Sent(l)
	for range 100 {
		l.pass(time.Microsecond)
		require.Equal(t, first, b.Number(l))
	}
	require.LessOrEqual(t, l.reads, 8)
}

// A poll ends a burst, without a look at the clock.
func TestPollEndsABurst(t *testing.T) {
	l, b := &timedLoop{epoch: 1}, new(btl.Burst)
	first := b.Number(l)
	l.epoch++
	require.NotEqual(t, first, b.Number(l))
	require.Zero(t, l.reads)
}

// So does a pause.
func TestPauseEndsABurst(t *testing.T) {
	for _, followers := range []int{0, 1, 2, 7, 31} {
		l, b := &timedLoop{epoch: 1}, new(btl.Burst)
		first := b.Number(l)
		b.Sent(l)
		for range followers {
			require.Equal(t, first, b.Number(l))
		}
		l.pass(50 * time.Microsecond)
		require.NotEqual(t, first, b.Number(l), "after %d followers", followers)
	}
}

// Whoever sends to many in turn, with a pause between the turns, has a burst for each turn.
func TestTurnsWithPausesAreBursts(t *testing.T) {
	l, b := &timedLoop{epoch: 1}, new(btl.Burst)
	const endpoints = 20
	last := ^uint64(0)
	for range 10 {
		first := b.Number(l)
		require.NotEqual(t, last, first)
		b.Sent(l)
		for range endpoints - 1 {
			require.Equal(t, first, b.Number(l))
			b.Sent(l)
		}
		last = first
		l.pass(20 * time.Microsecond)
	}
}
