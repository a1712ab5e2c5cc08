package strand

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/commons"
)

// Memory that has just been made is unmapped, once, if its communicator is freed at the same time. The race detector sees whether both sides agree.
func TestMemoryOfWhatIsFreedMeanwhile(t *testing.T) {
	mapped := func() int {
		b, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return strings.Count(string(b), "/memfd:strand-commons")
	}
	before := mapped()
	for range 200 {
		m, _, handed, err := commons.Make(2, leastShared)
		require.NoError(t, err)
		handed()
		var h holding
		var b budget
		s, err := b.take(2, leastShared, false)
		require.NoError(t, err)
		var both sync.WaitGroup
		both.Go(func() { h.keep(m, s) })
		both.Go(h.release)
		both.Wait()
		require.False(t, h.use())
		require.Zero(t, b.taken.Load())
	}
	require.Equal(t, before, mapped())
}

// A rank has so much memory and no more, but for one that is larger, and the world's own.
func TestBudgetOfMemory(t *testing.T) {
	var b budget
	large, err := b.take(2, 4<<20, false)
	require.NoError(t, err)
	require.Greater(t, large.bytes, int64(mostCommons))
	_, err = b.take(2, leastShared, false)
	require.ErrorContains(t, err, "free those that are not needed any more")
	own, err := b.take(2, leastShared, true)
	require.NoError(t, err)
	large.giveBack()
	own.giveBack()
	require.Zero(t, b.taken.Load())
	var all int64
	for {
		s, err := b.take(16, 64<<10, false)
		if err != nil {
			break
		}
		all += s.bytes
	}
	require.InDelta(t, mostCommons, all, 300<<10)
	require.Equal(t, all, b.taken.Load())
	_, err = b.take(2, 0, true)
	require.ErrorIs(t, err, errNoCommons)
}

// A rank that shows of what it lends less than where that is, and how long, makes no sense: it is an error, and nothing is looked for beyond
// what it shows.
func TestLoanThatIsNone(t *testing.T) {
	mine, ticket, handed, err := commons.Make(2, leastShared)
	require.NoError(t, err)
	defer handed()
	defer mine.Close()
	theirs, err := commons.Join(ticket, 1, 2, leastShared)
	require.NoError(t, err)
	defer theirs.Close()
	k := &courier{comm: new(Comm), name: "Bcast", number: 1}
	k.comm.holding.memory = mine
	o := (*commoner)(k)
	for i, size := range []int{0, 8, 15, 17, 16} {
		o.Begin(leastShared)
		theirs.Begin(leastShared, 1)
		theirs.Place(size)
		theirs.Show(size, true)
		_, err := o.Look(t.Context(), 1, coll.ALoan)
		if size == 16 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "Bcast: rank 1 has made another call", "%d", i)
		}
		mine.End()
		theirs.End()
	}
}
