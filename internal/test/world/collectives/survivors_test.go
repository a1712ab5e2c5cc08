package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/calls"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// A step is one of a generated program: all ranks of a communicator make it.
type step struct {
	call calls.Call
	on   int // which communicator
}

// A place is a communicator, which may be a grid.
type place struct {
	*strand.Comm
	grid *strand.Cart
}

// grid is which of the communicators of the first steps is one.
const grid = 3

// program makes the steps of a number, on so many communicators.
func program(random *rand.Rand, comms int) []step {
	steps := make([]step, 12)
	for i := range steps {
		steps[i] = step{calls.Draw(random, 200_000), random.IntN(comms)}
		if steps[i].on == grid {
			steps[i].call = calls.DrawOverGrid(random, 200_000)
		}
	}
	return steps
}

// take makes a step, and returns what is to be waited for and compared, if it goes on by itself.
func (s step) take(ctx context.Context, c place) (strand.Request, func() error, error) {
	call := s.call.Over(c.grid)
	if s.call.Alone {
		return call.Begin(c.Comm)
	}
	return strand.Request{}, nil, call.Make(ctx, c.Comm)
}

// scattered is memory of so many bytes, as a layout picks them that is drawn.
func scattered(n, seed int) strand.View {
	l, _, length := calls.DrawLayout[byte](rand.New(rand.NewPCG(uint64(seed), uint64(n))), n)
	return l.Of(make([]byte, length))
}

// follow makes the steps, with a message to the next rank beside each, and returns the first error. The rank of
// the world that dies does so before a step.
func follow(ctx context.Context, on []place, steps []step, dies func(step int) bool) error {
	var under []strand.Request
	var checks []func() error
	var messages []strand.Request
	defer func() {
		for _, r := range messages {
			r.Cancel() // its sender may have ended before
		}
	}()
	for i, s := range steps {
		if dies(i) {
			return errDies
		}
		c := on[s.on]
		in, err := c.IrecvView(scattered(64, i), (c.Rank()+c.Size()-1)%c.Size(), i)
		if err != nil {
			return err
		}
		messages = append(messages, in)
		if _, err := c.IsendView(scattered(i, c.Rank()), (c.Rank()+1)%c.Size(), i); err != nil {
			return err
		}
		r, check, err := s.take(ctx, c)
		if err != nil {
			return err
		}
		if s.call.Alone {
			under, checks = append(under, r), append(checks, check)
		}
	}
	for i, r := range under {
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
		if err := checks[i](); err != nil {
			return err
		}
	}
	return nil
}

var errDies = errors.New("this rank dies")

// In programs of blocking calls, of calls that go on by themselves and of messages, on four communicators, one of them a grid, by
// algorithms that are drawn, a rank or two die anywhere. What ends well is what the model says; whoever lives ends, and goes on in what Shrink makes.
func TestSurvivorsGoOn(t *testing.T) {
	lists := append(over(), "sctp,self")
	for seed := range need.Seeds(t, 4, 2000) {
		random := rand.New(rand.NewPCG(seed, 15))
		n, list := 3+random.IntN(4), lists[seed%uint64(len(lists))]
		steps, again := program(random, grid+1), program(random, 2)
		death := make([]int, n) // before which step a rank dies
		for i := range death {
			death[i] = -1
		}
		for range 1 + random.IntN(2) {
			death[random.IntN(n)] = random.IntN(len(steps))
		}
		t.Run(fmt.Sprintf("%d, %s, %d ranks", seed, list, n), func(t *testing.T) {
			jobs := world.ToldJobs(n)
			options := []strand.Option{strand.WithParam("btl", list)}
			for _, set := range calls.Settings(random) {
				options = append(options, strand.WithParam(set[0], set[1]))
			}
			w := openTold(t, jobs, options...)
			survive(t, w, steps, again, death, func(rank int) { jobs[rank].Abort(1, "it dies") })
		})
	}
}

func survive(t *testing.T, w []*strand.World, steps, again []step, death []int, kill func(rank int)) {
	ctx := world.Context(t)
	living := 0
	for _, at := range death {
		if at < 0 {
			living++
		}
	}
	for rank, err := range each(comms(w), func(c *strand.Comm) error {
		on, err := four(ctx, c)
		if err == nil {
			err = follow(ctx, on, steps, func(step int) bool { return death[c.Rank()] == step })
		}
		if death[c.Rank()] >= 0 { // if it has not ended with another one's death before
			kill(c.Rank())
			return nil
		}
		if err != nil { // others may wait for this rank in any of them
			for _, one := range on {
				err = errors.Join(err, one.Revoke())
			}
		}
		if err != nil && !names(err, death) {
			return fmt.Errorf("this does not name who has died: %w", err)
		}
		// Who dies does so before it agrees to anything.
		next, err := c.Shrink(ctx)
		if err != nil {
			return err
		}
		assert.Equal(t, living, next.Size())
		d, err := next.Dup(ctx)
		if err != nil {
			return err
		}
		return follow(ctx, []place{{next, nil}, {d, nil}}, again, func(int) bool { return false })
	}) {
		if death[rank] < 0 {
			require.NoError(t, err, "rank %d", rank)
		}
		assert.True(t, err == nil || death[rank] >= 0)
	}
}

// four are the communicator, one of the same ranks, one of those with even or odd numbers, and a grid of all. After an error they are those
// that were made.
func four(ctx context.Context, c *strand.Comm) ([]place, error) {
	on := []place{{c, nil}}
	d, err := c.Dup(ctx)
	if err != nil {
		return on, err
	}
	on = append(on, place{d, nil})
	half, err := d.Split(ctx, c.Rank()%2, 0)
	if err != nil {
		return on, err
	}
	on = append(on, place{half, nil})
	dims, err := strand.DimsCreate(c.Size(), []int{0, 0})
	if err != nil {
		return on, err
	}
	g, err := d.Cart(ctx, dims, []bool{true, false})
	if err != nil {
		return on, err
	}
	return append(on, place{g.Comm, g}), nil
}

// names reports whether an error names a rank that has died, or one that has revoked a communicator for that.
func names(err error, death []int) bool {
	if e, is := errors.AsType[*strand.PeerFailedError](err); is {
		return death[e.WorldRank] >= 0
	}
	e, is := errors.AsType[*strand.CollectiveError](err)
	return is && e.Call == "Revoke"
}
