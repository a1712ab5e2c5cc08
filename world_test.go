package strand

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/pml"
)

// A communicator of which only half could be made leaves nothing of the other half.
func TestHalfMadeCommunicatorTakesNoMemory(t *testing.T) {
	w, err := Init(t.Context(), WithParam("btl", "self"))
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	group := pml.ConsecutiveGroup(0, 1)
	fail := func(from, to uint64) {
		for id := from; id < to; id++ {
			coll, err := w.pml.NewContext(2*id+1, group, pml.Manner{})
			require.NoError(t, err)
			coll.Free()
			_, err = w.newComm(id, group, manner{})
			require.ErrorContains(t, err, "exists already")
		}
	}
	fail(1000, 1100)
	before := heapInUse()
	fail(1100, 21_100)
	require.Less(t, heapInUse(), before+1<<20, "bytes")
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// With progress_move false the engine leaves the affinity of threads alone.
func TestProgressMove(t *testing.T) {
	for _, move := range []string{"true", "false"} {
		o := options{registry: btl.Default}
		WithParam("progress_move", move)(&o)
		params, _, err := o.read()
		require.NoError(t, err)
		require.Equal(t, move == "false", progress(params, pml.Crowd{}).Stay)
	}
}

// One mistake is one line, in which launchers tell it; several have a title.
func TestMistakesInParameters(t *testing.T) {
	o := options{registry: btl.Default, bare: true}
	WithParam("btl_tcp_lnks", "1")(&o)
	_, _, err := o.read()
	require.ErrorContains(t, err, "btl_tcp_lnks (from ")
	require.NotContains(t, err.Error(), "\n")
	WithParam("btl_tcp_sndbfu", "1")(&o)
	_, _, err = o.read()
	require.Regexp(t, "^parameters:\nbtl_tcp_lnks .*\nbtl_tcp_sndbfu ", err.Error())
}

// crowd is a job that knows how many of its ranks run on this host.
type crowd struct {
	launch.Job
	ranks, processors int
}

func (c crowd) LocalRanks() int      { return c.ranks }
func (c crowd) LocalProcessors() int { return c.processors }

// The engine is told if the launcher says that there are more ranks than processors.
func TestProgressInACrowd(t *testing.T) {
	o := options{registry: btl.Default}
	params, _, err := o.read()
	require.NoError(t, err)
	require.False(t, progress(params, crowdOf(nil)).Crowded)
	for ranks, want := range map[int]bool{0: false, 1: false, runtime.NumCPU(): false, runtime.NumCPU() + 1: true} {
		require.Equal(t, want, progress(params, crowdOf(crowd{ranks: ranks})).Crowded, ranks)
	}
	for ranks, want := range map[int]bool{0: false, 99 * runtime.NumCPU(): false, 100 * runtime.NumCPU(): true} {
		require.Equal(t, want, progress(params, crowdOf(crowd{ranks: ranks})).Throng, ranks)
	}
	for ranks, want := range map[int]time.Duration{0: 0, 2: 0, 8: time.Millisecond, 12: 1500 * time.Microsecond, 16: 2 * time.Millisecond, 200: 2 * time.Millisecond} {
		require.Equal(t, want, progress(params, crowdOf(crowd{ranks: ranks, processors: 2})).Turn, ranks)
	}
	many := 8 * runtime.NumCPU()
	require.False(t, progress(params, crowdOf(crowd{ranks: many, processors: many})).Crowded, "a rank that is bound to one processor of many")
}

// Who aborts has failed. So no code makes this process's status that of success, of which a system keeps eight bits.
func TestAbortIsNoSuccess(t *testing.T) {
	for code, want := range map[int]int{7: 7, 263: 263, -1: -1, 0: 1, 256: 1, -512: 1} {
		var got []int
		w, err := Init(t.Context(), WithParam("btl", "self"), func(o *options) { o.exit = func(code int) { got = append(got, code) } })
		require.NoError(t, err)
		w.Abort(code, "enough")
		require.Equal(t, []int{want}, got, code)
		require.NoError(t, w.Close())
	}
}
