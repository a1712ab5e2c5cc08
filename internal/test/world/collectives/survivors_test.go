package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// A step is one of a generated program: all ranks make it, on one of two communicators.
type step struct {
	call, on, root, length int
	alone                  bool // it goes on by itself
}

// program makes the steps of a number.
func program(random *rand.Rand, ranks int) []step {
	steps := make([]step, 12)
	for i := range steps {
		steps[i] = step{random.IntN(6), random.IntN(2), random.IntN(ranks), []int{0, 1, 40, 3000, 30_000}[random.IntN(5)], random.IntN(2) == 0}
	}
	return steps
}

// sumOf is what ranks 0 to n−1 give together.
func sumOf(n, length int) []int64 { return sums(n-1, length) }

// take makes a step, and returns what is to be waited for and compared, if it goes on by itself.
func (s step) take(ctx context.Context, c *strand.Comm) (strand.Request, func() error, error) {
	n, root := c.Size(), s.root%c.Size()
	own, got := of(c.Rank(), s.length), make([]int64, s.length)
	compare := func(got, want []int64) func() error {
		return func() error {
			if !slices.Equal(want, got) {
				return fmt.Errorf("%+v: rank %d of %d has %d values that are not the model's", s, c.Rank(), n, len(got))
			}
			return nil
		}
	}
	var r strand.Request
	var err error
	check := compare(nil, nil)
	op := strand.Sum[int64]()
	switch s.call {
	case 0:
		if c.Rank() == root {
			copy(got, own)
		}
		check = compare(got, of(root, s.length))
		if s.alone {
			r, err = strand.Ibcast(c, got, root)
		} else {
			err = strand.Bcast(ctx, c, got, root)
		}
	case 1:
		check = compare(got, sumOf(n, s.length))
		if s.alone {
			r, err = strand.Iallreduce(c, op, own, got)
		} else {
			err = strand.Allreduce(ctx, c, op, own, got)
		}
	case 2:
		got = make([]int64, n*s.length)
		check = compare(got, joined(n, s.length))
		if s.alone {
			r, err = strand.Iallgather(c, own, got)
		} else {
			err = strand.Allgather(ctx, c, own, got)
		}
	case 3:
		if c.Rank() == root {
			check = compare(got, sumOf(n, s.length))
		}
		if s.alone {
			r, err = strand.Ireduce(c, op, own, got, root)
		} else {
			err = strand.Reduce(ctx, c, op, own, got, root)
		}
	case 4:
		check = compare(got, sumOf(c.Rank()+1, s.length))
		if s.alone {
			r, err = strand.Iscan(c, op, own, got)
		} else {
			err = strand.Scan(ctx, c, op, own, got)
		}
	default:
		if s.alone {
			r, err = c.Ibarrier()
		} else {
			err = c.Barrier(ctx)
		}
	}
	if err == nil && !s.alone {
		err = check()
	}
	return r, check, err
}

// follow makes the steps, with a message to the next rank beside each, and returns the first error. The rank of
// the world that dies does so before a step.
func follow(ctx context.Context, on [2]*strand.Comm, steps []step, dies func(step int) bool) error {
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
		in, err := c.Irecv(make([]byte, 64), (c.Rank()+c.Size()-1)%c.Size(), i)
		if err != nil {
			return err
		}
		messages = append(messages, in)
		if _, err := c.Isend(make([]byte, i), (c.Rank()+1)%c.Size(), i); err != nil {
			return err
		}
		r, check, err := s.take(ctx, c)
		if err != nil {
			return err
		}
		if s.alone {
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

// In programs of blocking calls, of calls that go on by themselves and of messages, on two communicators, a rank or two
// die anywhere. What ends well is what the model says; whoever lives ends, and goes on in what Shrink makes.
func TestSurvivorsGoOn(t *testing.T) {
	lists := append(over(), "sctp,self")
	for seed := range uint64(need.Times(8, 2000)) {
		random := rand.New(rand.NewPCG(seed, 15))
		n, list := 3+random.IntN(4), lists[int(seed)%len(lists)]
		steps, again := program(random, n), program(random, n)
		death := make([]int, n) // before which step a rank dies
		for i := range death {
			death[i] = -1
		}
		for range 1 + random.IntN(2) {
			death[random.IntN(n)] = random.IntN(len(steps))
		}
		t.Run(fmt.Sprintf("%d, %s, %d ranks", seed, list, n), func(t *testing.T) {
			jobs := world.ToldJobs(n)
			w := openTold(t, jobs, strand.WithParam("btl", list))
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
		d, err := c.Dup(ctx)
		var on [2]*strand.Comm
		if on = [2]*strand.Comm{c, d}; err == nil {
			err = follow(ctx, on, steps, func(step int) bool { return death[c.Rank()] == step })
		}
		if death[c.Rank()] >= 0 { // if it has not ended with another one's death before
			kill(c.Rank())
			return nil
		}
		if err != nil { // others may wait for this rank in either communicator
			err = errors.Join(err, c.Revoke())
			if d != nil {
				err = errors.Join(err, d.Revoke())
			}
		}
		if err != nil && !errors.Is(err, strand.ErrPeerFailed) && !errors.Is(err, strand.ErrOutOfStep) {
			return err
		}
		// Who dies does so before it agrees to anything.
		if on[0], err = c.Shrink(ctx); err != nil {
			return err
		}
		assert.Equal(t, living, on[0].Size())
		if on[1], err = on[0].Dup(ctx); err != nil {
			return err
		}
		return follow(ctx, on, again, func(int) bool { return false })
	}) {
		if death[rank] < 0 {
			require.NoError(t, err, "rank %d", rank)
		}
		assert.True(t, err == nil || death[rank] >= 0)
	}
}
