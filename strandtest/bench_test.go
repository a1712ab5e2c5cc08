package strandtest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/strandtest"
)

// steady is the context of what is measured. One that can end costs a
// registration with it, which allocates, whenever a wait has to park.
var steady = context.Background()

// A steadyCase is a round of messages that is repeated.
type steadyCase struct {
	name  string // the transport and the size
	ranks int
	size  int // bytes
	round func(ctx context.Context, c *strand.Comm, buf []byte) error
	// messages of a round
	messages int
}

var steadyCases = []steadyCase{
	{"self/8", 1, 8, toSelf, 1},
	{"self/64K", 1, 64 << 10, toSelf, 1},
	{"tcp/8", 2, 8, pingPong, 2},
	{"tcp/64K", 2, 64 << 10, pingPong, 2},
	{"tcp/8/synchronous", 2, 8, synchronous, 2},
	{"tcp/8/probed", 2, 8, probed, 2},
}

func init() {
	if runtime.GOOS == "linux" {
		steadyCases = append(steadyCases, steadyCase{"sm/8", 2, 8, pingPong, 2}, steadyCase{"sm/64K", 2, 64 << 10, pingPong, 2})
	}
}

// over chooses the case's transport.
func (c steadyCase) over() strand.Option {
	transport, _, _ := strings.Cut(c.name, "/")
	return strand.WithParam("btl", transport)
}

// toSelf sends one message to the rank itself.
func toSelf(ctx context.Context, c *strand.Comm, buf []byte) error {
	half := len(buf) / 2
	r, err := c.Irecv(buf[half:], 0, 1)
	if err != nil {
		return err
	}
	if err := c.Send(ctx, buf[:half], 0, 1); err != nil {
		return err
	}
	_, err = r.Wait(ctx)
	return err
}

// pingPong sends a message from rank 0 to rank 1 and back.
func pingPong(ctx context.Context, c *strand.Comm, buf []byte) error {
	half := len(buf) / 2
	if c.Rank() == 0 {
		if err := c.Send(ctx, buf[:half], 1, 1); err != nil {
			return err
		}
		_, err := c.Recv(ctx, buf[half:], 1, 1)
		return err
	}
	if _, err := c.Recv(ctx, buf[half:], 0, 1); err != nil {
		return err
	}
	return c.Send(ctx, buf[:half], 0, 1)
}

// synchronous is pingPong of sends that complete when they have matched.
func synchronous(ctx context.Context, c *strand.Comm, buf []byte) error {
	half, other := len(buf)/2, 1-c.Rank()
	if c.Rank() == 0 {
		if err := c.Ssend(ctx, buf[:half], other, 1); err != nil {
			return err
		}
	}
	if _, err := c.Recv(ctx, buf[half:], other, 1); err != nil {
		return err
	}
	if c.Rank() == 1 {
		return c.Ssend(ctx, buf[:half], other, 1)
	}
	return nil
}

// probed is pingPong of messages that are probed for.
func probed(ctx context.Context, c *strand.Comm, buf []byte) error {
	half, other := len(buf)/2, 1-c.Rank()
	if c.Rank() == 0 {
		if err := c.Send(ctx, buf[:half], other, 1); err != nil {
			return err
		}
	}
	if _, err := c.Probe(ctx, other, 1); err != nil {
		return err
	}
	if _, err := c.Recv(ctx, buf[half:], other, 1); err != nil {
		return err
	}
	if c.Rank() == 1 {
		return c.Send(ctx, buf[:half], other, 1)
	}
	return nil
}

// warmup is how many rounds fill free lists and connect.
const warmup = 50

// BenchmarkSteady measures messages between ranks that are goroutines of one
// process, over the transports that are built in. An operation is one message.
// The metric calls/message counts the system calls that send, of rank 0, for
// each message that it sends: acknowledgements that do not ride with answers
// show there.
func BenchmarkSteady(b *testing.B) {
	for _, tc := range steadyCases {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(tc.size))
			rounds := max(1, b.N/tc.messages)
			strandtest.Run(b, tc.ranks, func(_ context.Context, w *strand.World) error {
				buf := make([]byte, 2*tc.size)
				if err := repeat(tc, w.Comm(), buf, warmup); err != nil {
					return err
				}
				before := sendCalls(w)
				if w.Rank() == 0 {
					b.ResetTimer()
				}
				if err := repeat(tc, w.Comm(), buf, rounds); err != nil {
					return err
				}
				if w.Rank() == 0 {
					b.StopTimer()
					b.ReportMetric(float64(sendCalls(w)-before)/float64(rounds), "calls/message")
				}
				return w.Comm().Barrier(steady)
			}, tc.over())
		})
	}
}

// BenchmarkOutstanding measures messages of 8 B, one after the other, to a rank that waits
// for all of many receives and parks after each. What one costs does not depend on how
// many receives there are.
func BenchmarkOutstanding(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			strandtest.Run(b, 2, func(ctx context.Context, w *strand.World) error {
				c, buf := w.Comm(), make([]byte, 8)
				if w.Rank() == 1 {
					return receiveAll(ctx, c, n+b.N, buf)
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				b.ResetTimer()
				for range b.N {
					if err := c.Ssend(ctx, buf, 1, 1); err != nil {
						return err
					}
				}
				b.StopTimer()
				for range n {
					if err := c.Send(ctx, buf, 1, 1); err != nil {
						return err
					}
				}
				return nil
			}, strand.WithParam("progress_spin", "0"))
		})
	}
}

// receiveAll posts receives and waits for all of them.
func receiveAll(ctx context.Context, c *strand.Comm, n int, buf []byte) (err error) {
	reqs := make([]strand.Request, n)
	for i := range reqs {
		if reqs[i], err = c.Irecv(buf, 0, 1); err != nil {
			return err
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	return strand.WaitAll(ctx, reqs, nil)
}

// sendCalls counts the system calls that have sent something for a rank.
func sendCalls(w *strand.World) (calls uint64) {
	for _, r := range w.Rails() {
		calls += r.Counters.SendCalls
	}
	return calls
}

func repeat(tc steadyCase, c *strand.Comm, buf []byte, rounds int) error {
	for range rounds {
		if err := tc.round(steady, c, buf); err != nil {
			return err
		}
	}
	return nil
}

// Once its free lists are filled, a message allocates nothing. What else runs in
// the process may: the least of several batches is what counts, and per message
// it must be as good as nothing.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const rounds = 200
	batches := need.Daily(8, 20)
	for _, tc := range steadyCases {
		t.Run(tc.name, func(t *testing.T) {
			least := uint64(1 << 62)
			strandtest.Run(t, tc.ranks, func(_ context.Context, w *strand.World) error {
				buf := make([]byte, 2*tc.size)
				if err := repeat(tc, w.Comm(), buf, warmup); err != nil {
					return err
				}
				for range batches {
					var before, after runtime.MemStats
					if w.Rank() == 0 {
						runtime.ReadMemStats(&before)
					}
					if err := repeat(tc, w.Comm(), buf, rounds); err != nil {
						return err
					}
					if w.Rank() == 0 {
						runtime.ReadMemStats(&after)
						least = min(least, after.Mallocs-before.Mallocs)
					}
				}
				return nil
			}, tc.over())
			assert.Less(t, least, uint64(rounds*tc.messages/20), fmt.Sprintf("allocations in %d messages", rounds*tc.messages))
		})
	}
}
