//go:build linux

package failures_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
)

// depend joins the ranks in pairs, 0 with 1, 2 with 3. The two of each depend on each
// other in one of several ways, until one fails, which the other tells of; the last
// two exchange messages. All leave when they are sent SIGUSR1.
func depend(ctx context.Context, w *strand.World) error {
	world := w.Comm()
	pair, err := world.Split(ctx, world.Rank()/2, world.Rank())
	if err != nil {
		return err
	}
	if err := world.Barrier(ctx); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	fmt.Println("ready")
	if world.Rank()/2 == world.Size()/2-1 {
		rounds, err := exchangeUntil(ctx, pair, stop)
		if err == nil {
			fmt.Printf("went on: %d rounds\n", rounds)
		}
		return err
	}
	err = dependencies[world.Rank()/2%len(dependencies)](ctx, pair)
	failed, ok := errors.AsType[*strand.PeerFailedError](err)
	if !ok {
		return fmt.Errorf("ended with %w", err)
	}
	fmt.Printf("failed: rank %d on %s: %v\n", failed.WorldRank, failed.Host, failed.Cause)
	<-stop
	return segmentsGo(ctx, w)
}

// segmentsGo returns once this process has no more segments of shared memory than connections over
// them: those to ranks that are gone have been given back.
func segmentsGo(ctx context.Context, w *strand.World) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		up := 0
		for _, r := range w.Rails() {
			if r.Up && r.Component == "sm" {
				up++
			}
		}
		b, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			return err
		}
		mapped := bytes.Count(b, []byte("memfd:strand-sm"))
		if mapped == up {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%d segments of memory are mapped, there are %d connections", mapped, up)
		}
		if _, _, err := w.Comm().Iprobe(strand.AnySource, strand.AnyTag); err != nil && !errors.Is(err, strand.ErrPeerFailed) {
			return err
		}
	}
}

// dependencies are the ways to wait for the other of a pair for ever.
var dependencies = []func(context.Context, *strand.Comm) error{
	func(ctx context.Context, c *strand.Comm) error {
		_, err := exchangeUntil(ctx, c, nil)
		return err
	},
	func(ctx context.Context, c *strand.Comm) error {
		_, err := c.Recv(ctx, make([]byte, 8), 1-c.Rank(), 1)
		return err
	},
	func(ctx context.Context, c *strand.Comm) error {
		_, err := c.Recv(ctx, make([]byte, 8), strand.AnySource, strand.AnyTag)
		return err
	},
	func(ctx context.Context, c *strand.Comm) error {
		return c.Send(ctx, make([]byte, 4<<20), 1-c.Rank(), 1)
	},
	func(ctx context.Context, c *strand.Comm) error {
		_, err := c.Probe(ctx, 1-c.Rank(), 1)
		return err
	},
	func(ctx context.Context, c *strand.Comm) error {
		var reqs []strand.Request
		for tag := range 10 {
			in, err := c.Irecv(make([]byte, 8), 1-c.Rank(), tag)
			if err != nil {
				return err
			}
			out, err := c.Isend(make([]byte, 1<<20), 1-c.Rank(), 100+tag)
			if err != nil {
				return err
			}
			reqs = append(reqs, in, out)
		}
		return strand.WaitAll(ctx, reqs, nil)
	},
}

// exchangeUntil exchanges messages of all lengths with the other of a pair, and compares
// them, until the first of the two is told to stop.
func exchangeUntil(ctx context.Context, c *strand.Comm, stop <-chan os.Signal) (rounds int, err error) {
	other := 1 - c.Rank()
	for ; ; rounds++ {
		mine := traffic.Payload(c.Rank(), rounds, 0, traffic.Length(c.Rank(), rounds, 0))
		if c.Rank() == 0 {
			select {
			case <-stop:
				mine[0] = 1
			default:
				mine[0] = 0
			}
		}
		req, err := c.Isend(mine, other, rounds%7)
		if err != nil {
			return rounds, err
		}
		theirs := make([]byte, traffic.Length(other, rounds, 0))
		if _, err := c.Recv(ctx, theirs, other, rounds%7); err != nil {
			return rounds, err
		}
		if _, err := req.Wait(ctx); err != nil {
			return rounds, err
		}
		if want := traffic.Payload(other, rounds, 0, len(theirs)); !bytes.Equal(theirs[1:], want[1:]) {
			return rounds, fmt.Errorf("round %d: %d bytes are damaged", rounds, len(theirs))
		}
		if c.Rank() == 0 && mine[0] == 1 || c.Rank() == 1 && theirs[0] == 1 {
			return rounds, nil
		}
	}
}
