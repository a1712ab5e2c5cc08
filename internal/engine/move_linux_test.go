package engine

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
)

// Wherever the thread is moved to, it may use the same processors as before.
func TestMoveAwayKeepsTheMask(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &before))
	for range 4 {
		moveAway(new(btl.Processors))
		require.NoError(t, unix.SchedGetaffinity(0, &after))
		require.Equal(t, before, after)
	}
}

// Whoever takes the processor from a goroutine that moves away, as the collector does, another thread does not end the move for it:
// then the first one would stay where it is for good, and every thread that it makes.
func TestMoveAwayWhileOthersInterrupt(t *testing.T) {
	var before, after unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(os.Getpid(), &before))
	need.That(t, before.Count() > 1, "needs two processors")
	ended := make(chan struct{})
	var moving, collecting sync.WaitGroup
	collecting.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				runtime.GC()
			}
		}
	})
	for range 4 {
		moving.Go(func() {
			for range 1000 {
				moveAway(new(btl.Processors))
			}
		})
	}
	moving.Wait()
	close(ended)
	collecting.Wait()
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		require.NoError(t, err)
		if unix.SchedGetaffinity(id, &after) == nil { // else it has ended
			require.Equal(t, before, after)
		}
	}
}

// A thread that may use one processor only stays there.
func TestMoveAwayWithOneProcessor(t *testing.T) {
	cpu := stays(t)
	require.True(t, bound())
	moveAway(new(btl.Processors))
	now, ok := processor()
	require.True(t, ok)
	require.Equal(t, cpu, now)
}

// A thread that the system has moved already stays where it is.
func TestMovedBySomebodyElse(t *testing.T) {
	stays(t) // nobody moves it during the test
	var c company
	c.noteProcessor()
	require.False(t, c.moved())
	c.cpu++ // it began on another one
	require.True(t, c.moved())
	c.part(func() { t.Error("moved back") })
	require.False(t, c.moved(), "it has noticed")
	moves := 0
	c.part(func() { moves++ })
	require.Equal(t, 1, moves)
}
