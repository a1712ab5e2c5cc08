package handoff

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btltest"
)

// While the loop is away those who come are fetched, as many as may wait; more are dropped, by
// chance. When it is back it is handed those that are left.
func TestFetchedWhileTheLoopIsAway(t *testing.T) {
	const most, come = 8, 100
	var loop btltest.Loop
	g := NewGroup(&loop)
	next, last := 0, make(chan struct{})
	var dropped atomic.Int64
	taken := map[int]bool{}
	FetchAll(g, most, func() (int, error) {
		if next++; next > come {
			close(last)
			<-g.Context().Done()
			return 0, net.ErrClosed
		}
		return next, nil
	}, func(v int) { taken[v] = true }, func(int) { dropped.Add(1) }, func(err error) { t.Error(err) })
	<-last // the loop has not run
	loop.Until(t, "all that wait", func() bool { return len(taken) == most })
	require.EqualValues(t, come-most, dropped.Load())
	g.Close()
}

// A listener whose system had nothing to give for a moment listens on.
func TestFetchedAfterTrouble(t *testing.T) {
	var loop btltest.Loop
	g := NewGroup(&loop)
	calls, told, taken := 0, 0, 0
	FetchAll(g, 4, func() (int, error) {
		switch calls++; calls {
		case 1:
			return 0, errors.New("too many open files")
		case 2:
			return 7, nil
		}
		<-g.Context().Done()
		return 0, net.ErrClosed
	}, func(v int) { taken = v }, func(int) {}, func(error) { told++ })
	loop.Until(t, "the next one", func() bool { return taken == 7 })
	require.Equal(t, 1, told)
	g.Close()
}
