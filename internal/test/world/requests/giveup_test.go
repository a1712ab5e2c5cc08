package requests_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// Goroutines of each rank send long messages to all other ranks, and receive theirs, at the same time.
// Contexts of receives end at any moment, also while the bytes are moved without the engine's lock. The
// memory is then written to at once. The message goes to the next receive, whole.
func TestGoroutinesThatGiveUp(t *testing.T) {
	const ranks, goroutines = 3, 2
	rounds := need.Times(2, 100)
	settings := map[string][]strand.Option{
		"tcp":                  {strand.WithParam("btl", "tcp,self")},
		"tcp, two connections": {strand.WithParam("btl", "tcp,self"), strand.WithParam("btl_tcp_links", "2")},
		"tcp, no credit":       {strand.WithParam("btl", "tcp,self"), strand.WithParam("pml_credit_first", "0"), strand.WithParam("pml_unexpected_max", "0")},
	}
	if runtime.GOOS == "linux" {
		settings["sm"] = []strand.Option{strand.WithParam("btl", "sm,self")}
	}
	for name, opts := range settings {
		t.Run(name, func(t *testing.T) {
			strandtest.Run(t, ranks, func(ctx context.Context, w *strand.World) error {
				errs := make(chan error, 2*ranks*goroutines)
				var wg sync.WaitGroup
				for peer := range ranks {
					if peer == w.Rank() {
						continue
					}
					for g := range goroutines {
						wg.Go(func() { errs <- sendLong(ctx, w.Comm(), peer, g, rounds) })
						wg.Go(func() { errs <- receiveAtLast(ctx, w.Comm(), peer, g, rounds) })
					}
				}
				wg.Wait()
				close(errs)
				for err := range errs {
					if err != nil {
						return err
					}
				}
				return nil
			}, opts...)
		})
	}
}

// longSizes are those of the messages: moved under the lock, and without it.
var longSizes = []int{65_536, 65_537, 300_000, 1 << 20, 3<<20 + 1}

func sendLong(ctx context.Context, c *strand.Comm, peer, g, rounds int) error {
	for round := range rounds {
		n := longSizes[(g+round)%len(longSizes)]
		if err := c.Send(ctx, world.Pattern(n, c.Rank()*10+g+round), peer, g); err != nil {
			return fmt.Errorf("goroutine %d, round %d, %d bytes to rank %d: %w", g, round, n, peer, err)
		}
	}
	return nil
}

// receiveAtLast receives each message by as many tries as it takes.
func receiveAtLast(ctx context.Context, c *strand.Comm, peer, g, rounds int) error {
	random := rand.New(rand.NewPCG(uint64(c.Rank()), uint64(peer*10+g)))
	for round := range rounds {
		n := longSizes[(g+round)%len(longSizes)]
		in := make([]byte, n)
		for try := 0; ; try++ {
			st, err := receiveFor(ctx, c, in, peer, g, random.IntN(200<<min(try, 10)))
			if errors.Is(err, context.Canceled) && ctx.Err() == nil {
				clear(in) // it is the program's again
				continue
			}
			if err != nil {
				return fmt.Errorf("goroutine %d, round %d, try %d, %d bytes from rank %d: %w", g, round, try, n, peer, err)
			}
			if st.Count != n || string(in) != string(world.Pattern(n, peer*10+g+round)) {
				return fmt.Errorf("goroutine %d, round %d, try %d, %d bytes from rank %d: %+v, or other content", g, round, try, n, peer, st)
			}
			break
		}
	}
	return nil
}

// receiveFor receives until others have had the processor so many times.
func receiveFor(ctx context.Context, c *strand.Comm, in []byte, peer, g, turns int) (strand.Status, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		for range turns {
			if ctx.Err() != nil {
				return
			}
			runtime.Gosched()
		}
		cancel()
	})
	return c.Recv(ctx, in, peer, g)
}
