package requests_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// TestManyGoroutines has goroutines of every rank talk to those of every other
// over one communicator at the same time, each with a tag of its own.
func TestManyGoroutines(t *testing.T) {
	const ranks, goroutines, rounds = 3, 4, 9
	for name, opts := range world.Settings {
		t.Run(name, func(t *testing.T) {
			strandtest.Run(t, ranks, func(ctx context.Context, w *strand.World) error {
				errs := make(chan error, ranks*goroutines)
				var wg sync.WaitGroup
				for peer := range ranks { // oneself too
					for g := range goroutines {
						wg.Go(func() { errs <- converse(ctx, w.Comm(), peer, g, rounds) })
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

// converse exchanges messages of many sizes with a peer's goroutine of the same
// number, in every way there is.
func converse(ctx context.Context, c *strand.Comm, peer, g, rounds int) error {
	for round := range rounds {
		n := world.Sizes[(g*5+round)%len(world.Sizes)]
		out, in := world.Pattern(n, c.Rank()*10+g), make([]byte, n)
		var st strand.Status
		var err error
		switch round % 3 {
		case 0:
			st, err = c.Sendrecv(ctx, out, peer, g, in, peer, g)
		case 1:
			var reqs [2]strand.Request
			if reqs[0], err = c.Irecv(in, peer, g); err != nil {
				return err
			}
			if reqs[1], err = c.Issend(out, peer, g); err != nil {
				return err
			}
			var statuses [2]strand.Status
			err = strand.WaitAll(ctx, reqs[:], statuses[:])
			st = statuses[0]
		case 2:
			var r strand.Request
			if r, err = c.Isend(out, peer, g); err != nil {
				return err
			}
			var m *strand.Message
			if m, err = c.Mprobe(ctx, peer, g); err != nil {
				return err
			}
			if st, err = m.Recv(ctx, in); err != nil {
				return err
			}
			_, err = r.Wait(ctx)
		}
		if err != nil {
			return err
		}
		if (st != strand.Status{Source: peer, Tag: g, Count: n}) || string(in) != string(world.Pattern(n, peer*10+g)) {
			return fmt.Errorf("goroutine %d, round %d, %d bytes from rank %d: %+v, or other content", g, round, n, peer, st)
		}
	}
	return nil
}

// Many goroutines that wait while one of them makes progress are each woken by
// their own message.
func TestManyParkedReceivers(t *testing.T) {
	const receivers, rounds = 50, 10
	world.OnEach(t, func(p *world.Pair) {
		ended := make(chan error, receivers)
		for g := range receivers {
			go func() {
				for range rounds {
					if _, err := p.Receiver.Recv(p.Ctx, make([]byte, 1), p.From, g); err != nil {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
		}
		for round := range rounds {
			for g := range receivers {
				p.Wait(p.Isend([]byte{byte(round)}, (g*17+round)%receivers))
			}
		}
		for range receivers {
			if err := <-ended; err != nil {
				p.Fatal(err)
			}
		}
	})
}
