package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// stayOn keeps the calling thread on one processor.
func stayOn(t *testing.T, processor int) {
	t.Helper()
	var set unix.CPUSet
	set.Set(processor)
	require.NoError(t, unix.SchedSetaffinity(0, &set))
}

// Where all processors compute, a thread of the library that has something to do takes its time from the computing. That counts,
// though the process uses no more than the time that passes.
func TestWhatIsDoneBesideComputingOnTheSameProcessor(t *testing.T) {
	runtime.LockOSThread() // and never unlock: the thread is bound
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	processor := 0
	for !allowed.IsSet(processor) {
		processor++
	}
	processors := runtime.GOMAXPROCS(max(3, runtime.GOMAXPROCS(0))) // the system shares the one out
	defer runtime.GOMAXPROCS(processors)
	var over atomic.Bool
	var other sync.WaitGroup
	bound := make(chan struct{})
	other.Go(func() {
		runtime.LockOSThread()
		stayOn(t, processor)
		close(bound)
		for !over.Load() {
		}
	})
	<-bound
	stayOn(t, processor)
	best := 0.0
	for tries := 0; tries < 50 && best < 5; tries++ { // neither may have had the processor, on a slow day
		var s spent
		s.compute(20 * time.Millisecond)
		best = s.share()
	}
	over.Store(true)
	other.Wait()
	assert.Greater(t, best, 5.0, "percent of the computing: each had about half")
}
