package programs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/strandmp/strand"
)

// madPatience is how long the mad rank waits for the others when it closes its world: what it
// waits for may never come, nor what they wait for before it has left.
const madPatience = 2 * time.Second

// mad is the rank that goes mad in some sessions.
func (s *Session) mad() int { return s.ranks - 1 }

func (s *Session) closeTimeout(rank int) time.Duration {
	if s.setup.Mad != nil && rank == s.mad() {
		return madPatience
	}
	return timeout
}

// beside is a rank's part of a session in which the last rank goes mad: what it sends makes
// no sense any more. The others run their programs all the same, of which it has no part,
// and what they send it and receive from it ends, however.
func (x *run) beside(ctx context.Context, w *strand.World, me int) error {
	mad := x.session.mad()
	color := 0
	if me == mad {
		color = strand.Undefined
	}
	sane, err := w.Comm().Split(ctx, color, 0)
	if err != nil {
		return fmt.Errorf("rank %d: %w", me, err)
	}
	all, err := w.Comm().Dup(ctx)
	if err != nil {
		return fmt.Errorf("rank %d: %w", me, err)
	}
	n := &nonsense{comm: all, run: x, random: rand.New(rand.NewPCG(x.session.Seed, uint64(me)))}
	x.met.Done()
	if me == mad {
		x.met.Wait() // what they have together to the end comes first
		x.session.setup.Mad.Madden(mad)
		for peer := range mad {
			n.exchange(ctx, peer)
		}
		pause(ctx, time.Duration(n.random.IntN(100))*time.Millisecond)
		_ = closeWorld(ctx, w) // whatever the others make of that
		n.wg.Wait()
		return nil
	}
	n.exchange(ctx, mad)
	if err := x.programs(ctx, sane, me); err != nil {
		go func() { _ = w.Close() }() // it may hang for the same reason
		return err
	}
	n.wg.Wait()
	_ = closeWorld(ctx, w) // the mad one may have left without an answer
	if ctx.Err() != nil {
		return fmt.Errorf("rank %d, with a mad rank %d: %w", me, mad, context.Cause(ctx))
	}
	return nil
}

// nonsense is what a rank and the mad one send each other.
type nonsense struct {
	comm *strand.Comm
	*run
	random *rand.Rand
	wg     sync.WaitGroup
}

// exchange starts sends to a peer and receives from it, each in a goroutine that waits for
// its end.
func (n *nonsense) exchange(ctx context.Context, peer int) {
	seed := n.random.Uint64()
	n.wg.Go(func() {
		defer n.panicked()
		r := rand.New(rand.NewPCG(seed, 0))
		for range 20 + r.IntN(200) {
			b := newBuffer(r.IntN(pick(r, 10, 1000, 20_000)), pick(r, whole, whole, scattered), r)
			start := n.operation(b, peer, r)
			handle, err := start()
			if err != nil {
				return
			}
			starts := 1 + r.IntN(3)
			n.wg.Go(func() {
				defer n.panicked()
				for err == nil {
					_, _ = handle.Wait(ctx) // which it may with any error, but must
					n.pulse.beat()
					if starts--; starts == 0 {
						return
					}
					handle, err = start()
				}
			})
			if r.IntN(20) == 0 {
				runtime.Gosched()
			}
		}
	})
}

// operation is one that may be started again when it has ended, some of them by a persistent one.
func (n *nonsense) operation(b *buffer, peer int, r *rand.Rand) func() (strand.Request, error) {
	persists, how, tag := r.IntN(2) == 0, mode(r.IntN(3)), r.IntN(4)
	var op *strand.Persistent
	var err error
	switch receives := r.IntN(3) == 0; {
	case receives && !persists:
		return func() (strand.Request, error) { return b.irecv(n.comm, peer, strand.AnyTag) }
	case !persists:
		return func() (strand.Request, error) { return isend(n.comm, b, peer, tag, how) }
	case receives:
		op, err = recvInit(n.comm, b, peer, strand.AnyTag)
	default:
		op, err = sendInit(n.comm, b, peer, tag, how)
	}
	return func() (strand.Request, error) {
		if err != nil {
			return strand.Request{}, err
		}
		return op.Start()
	}
}
