package tcp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// pausedLoop remembers what is to happen later; a test lets it happen.
type pausedLoop struct {
	btl.Loop
	later []func()
}

type pausedTimer struct{}

func (pausedTimer) Stop() {}

func (l *pausedLoop) After(_ time.Duration, f func()) btl.Timer {
	l.later = append(l.later, f)
	return pausedTimer{}
}

// holds reports whether an endpoint holds a buffer.
func (ep *endpoint) holds() bool { return ep.sender.out != nil || ep.scanner.Holds() }

// A connection has buffers only while there are bytes in them, whatever it has carried.
func TestAtRestNothingIsHeld(t *testing.T) {
	x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	y.n.engine.Lock() // it does not read
	var done int
	x.n.do(func() {
		_, done = fill(x, func(i int) *btl.Frame { return frame("h", strings.Repeat("y", 1+(i*997)%(copyLimit-1))) })
		require.True(t, x.ep.holds(), "the system has no room for what waits")
	})
	y.n.engine.Unlock()
	y.n.until("all frames", func() bool { return len(y.frames) == done })
	x.n.until("the last bytes", func() bool { return x.ep.Queued() == 0 })
	for _, p := range []*peer{x, y} {
		p.n.do(func() { require.False(t, p.ep.holds()) })
	}
}

// Buffers that were lent to many at once are given up when they were not used for a while.
// Those in use all the time are kept.
func TestLenderTidiesUp(t *testing.T) {
	loop := &pausedLoop{}
	l := newLender(loop)
	lent := make([][]byte, 0, 100)
	lend := func(n int) {
		lent = lent[:0]
		for range n {
			lent = append(lent, l.large.take())
		}
		for _, b := range lent {
			l.back(b)
		}
	}
	tick := func() {
		require.Len(t, loop.later, 1)
		f := loop.later[0]
		loop.later = nil
		f()
	}
	lend(100)
	require.Len(t, l.large.free, 100)
	tick() // all were used a moment ago
	require.Len(t, l.large.free, 100)
	lend(30)
	tick()
	require.Len(t, l.large.free, 30)
	require.Zero(t, testing.AllocsPerRun(10, func() { lend(3) }))
	lend(2)
	tick()
	require.Equal(t, kept/largeBuffer, len(l.large.free), "so many may stay")
	require.Empty(t, loop.later)
	l.back(l.small.take())
	require.Len(t, l.small.free, 1)
	l.back(nil)
}
