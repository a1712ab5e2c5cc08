package requests_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// processors has a test run with each number of processors.
func processors(t *testing.T, f func(*testing.T)) {
	for _, n := range []int{1, 2} {
		t.Run(map[int]string{1: "one processor", 2: "two processors"}[n], func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			f(t)
		})
	}
}

// computed is what compute has come to.
var computed atomic.Uint64

// compute keeps a processor busy for a while, without a call of the library.
func compute() {
	x := computed.Load()
	for i := range uint64(20_000) {
		x = x*6364136223846793005 + i
	}
	computed.Store(x)
}

// A long message travels while both programs compute: nobody calls the library
// but to read the counters of its connection, which moves nothing on.
func TestTransferWhileComputing(t *testing.T) {
	processors(t, func(t *testing.T) {
		w, ctx := world.Open(t, 2), world.Context(t)
		const n = 4 << 20
		data, buf := world.Pattern(n, 1), make([]byte, n)
		for range 5 {
			start := received(w[1]) // before the first byte can be on its way
			in, err := w[1].Comm().Irecv(buf, 0, 1)
			require.NoError(t, err)
			out, err := w[0].Comm().Isend(data, 1, 1)
			require.NoError(t, err)
			for received(w[1])-start < n {
				compute()
				require.NoError(t, ctx.Err(), "%d of %d bytes have arrived", received(w[1])-start, n)
			}
			_, err = in.Wait(ctx)
			require.NoError(t, err)
			_, err = out.Wait(ctx)
			require.NoError(t, err)
			world.Equal(t, data, buf, "received while computing")
			clear(buf)
		}
	})
}

// received is how many bytes a world's connections have brought.
func received(w *strand.World) (n uint64) {
	for _, r := range w.Rails() {
		n += r.Counters.BytesReceived
	}
	return n
}

// A short message that was held back to be sent with others goes out though its
// sender computes, and so does the answer of a receiver that computes.
func TestShortMessagesWhileComputing(t *testing.T) {
	processors(t, func(t *testing.T) {
		w, ctx := world.Open(t, 2), world.Context(t)
		for range 5 {
			start := received(w[1])
			for i := range 20 {
				require.NoError(t, w[0].Comm().Send(ctx, make([]byte, 100), 1, i))
			}
			for received(w[1])-start < 20*100 {
				compute()
				require.NoError(t, ctx.Err())
			}
			for i := range 20 {
				_, err := w[1].Comm().Recv(ctx, make([]byte, 100), 0, i)
				require.NoError(t, err)
			}
		}
	})
}

// A computing goroutine beside it does not keep a waiter from its message.
func TestWaitBesideAComputingGoroutine(t *testing.T) {
	sizes := []int{0, 50_000, 100_000, 450_000} // each message may take some slices of time
	if need.Soaking() {
		for n := range 100 {
			sizes = append(sizes, 50_000*(n%10))
		}
	}
	processors(t, func(t *testing.T) {
		world.InTurn(t, func(p *world.Pair) {
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						compute()
					}
				}
			}()
			for i, n := range sizes {
				out := p.Isend(world.Pattern(n, i), 1)
				p.Recv(world.Pattern(n, i), 1)
				p.Wait(out)
			}
		})
	})
}

// The garbage collector is not held up by a waiter that spins: the quickest of
// several collections is far from the seconds that one without a preemption point
// would take.
func TestCollectionDuringASpinningWait(t *testing.T) {
	processors(t, func(t *testing.T) {
		w, ctx := world.Open(t, 2, strand.WithParam("progress_spin", "1h")), world.Context(t)
		ended := make(chan error, 1)
		go func() {
			_, err := w[1].Comm().Recv(ctx, nil, 0, 1)
			ended <- err
		}()
		quickest := time.Hour
		for range 20 {
			start := time.Now()
			runtime.GC()
			quickest = min(quickest, time.Since(start))
		}
		assert.Less(t, quickest, time.Second)
		require.NoError(t, w[0].Comm().Send(ctx, nil, 1, 1))
		require.NoError(t, <-ended)
	})
}
