package collectives_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/launch"
)

// each has the ranks given make a call at the same time, and returns how it has ended.
func each(comms []*strand.Comm, call func(c *strand.Comm) error) []error {
	errs := make([]error, len(comms))
	var calls sync.WaitGroup
	for i, c := range comms {
		calls.Go(func() { errs[i] = call(c) })
	}
	calls.Wait()
	return errs
}

func comms(w []*strand.World) (all []*strand.Comm) {
	for _, one := range w {
		all = append(all, one.Comm())
	}
	return all
}

// needing are collective calls that no rank completes without the others.
var needing = map[string]func(context.Context, *strand.Comm) error{
	"Barrier": func(ctx context.Context, c *strand.Comm) error { return c.Barrier(ctx) },
	"Split":   func(ctx context.Context, c *strand.Comm) error { _, err := c.Split(ctx, 0, 0); return err },
	"Allgather": func(ctx context.Context, c *strand.Comm) error {
		return c.Allgather(ctx, make([]byte, 9), make([]byte, 9*c.Size()))
	},
	"Alltoall": func(ctx context.Context, c *strand.Comm) error {
		return c.Alltoall(ctx, make([]byte, 70_000*c.Size()), make([]byte, 70_000*c.Size()))
	},
	"Allreduce": func(ctx context.Context, c *strand.Comm) error {
		return strand.Allreduce(ctx, c, strand.Sum[int](), make([]int, 80_000), make([]int, 80_000))
	},
	"Ibarrier": func(ctx context.Context, c *strand.Comm) error {
		r, err := c.Ibarrier()
		if err == nil {
			_, err = r.Wait(ctx)
		}
		return err
	},
}

// Who leaves a call in the middle of what it sends from its own memory is told that this goes on: what it writes there another one would
// receive, as if all was well.
func TestMemoryOfACallThatWasLeft(t *testing.T) {
	w := world.Open(t, 2, strand.WithParam("btl", "tcp,self"), strand.WithParam("coll_bcast", "binomial"))
	ctx := world.Context(t)
	bcast := func(ctx context.Context, c *strand.Comm) error { return c.Bcast(ctx, make([]byte, 8<<20), 0) }
	for _, err := range each(comms(w), func(c *strand.Comm) error { return bcast(ctx, c) }) {
		require.NoError(t, err) // where the ranks are is known from here on
	}
	brief, cancel := context.WithCancel(ctx)
	defer cancel()
	before, left := w[1].Stats().Unexpected, make(chan error, 1)
	go func() { left <- bcast(brief, w[0].Comm()) }()
	require.Eventually(t, func() bool { return w[1].Stats().Unexpected > before }, time.Minute, time.Millisecond)
	cancel() // rank 1 has been asked, and takes no part
	err := <-left
	require.ErrorIs(t, err, strand.ErrUnderway)
	require.ErrorIs(t, err, context.Canceled)
	err = w[0].Comm().Barrier(ctx)
	require.ErrorIs(t, err, context.Canceled, "it says why it is refused")
	require.NotErrorIs(t, err, strand.ErrUnderway, "it sends nothing")
}

// A call that has begun to send from its caller's memory when it finds another rank dead ends at once. It says that what it has begun goes on.
func TestMemoryOfACallThatFindsARankDead(t *testing.T) {
	const dead = 1
	for name, bcast := range map[string]func(context.Context, *strand.Comm, []byte) error{
		"blocks":            func(ctx context.Context, c *strand.Comm, b []byte) error { return c.Bcast(ctx, b, 0) },
		"goes on by itself": func(ctx context.Context, c *strand.Comm, b []byte) error { return waited(ctx)(c.Ibcast(b, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			jobs := world.ToldJobs(4)
			w := openTold(t, jobs, strand.WithParam("coll_bcast", "binomial"))
			ctx := world.Context(t)
			for _, err := range each(comms(w), func(c *strand.Comm) error { return bcast(ctx, c, make([]byte, 8)) }) {
				require.NoError(t, err) // where the ranks are is known from here on
			}
			jobs[dead].Abort(1, "it dies")
			_, err := w[0].Comm().Recv(ctx, nil, dead, 1)
			require.ErrorIs(t, err, strand.ErrPeerFailed)
			err = bcast(ctx, w[0].Comm(), make([]byte, 8<<20)) // to rank 2 first, which takes no part
			require.ErrorIs(t, err, strand.ErrUnderway)
			e, is := errors.AsType[*strand.PeerFailedError](err)
			require.True(t, is, "%v", err)
			require.Equal(t, dead, e.Rank)
		})
	}
}

// Who leaves a call that is under way is heard of everywhere, with its rank, call and cause. Messages go on; no other
// collective call is taken until Shrink has made the next communicator, of all.
func TestWhoLeavesACallEndsItEverywhere(t *testing.T) {
	for name, call := range needing {
		if name == "Ibarrier" {
			continue // its wait can be left, and not the call
		}
		t.Run(name, func(t *testing.T) {
			const n = 5
			w := world.Open(t, n)
			ctx := world.Context(t)
			const who = 3
			leaver, others := w[who].Comm(), comms(slices.Concat(w[:who], w[who+1:]))
			over, cancel := context.WithCancel(ctx)
			// The leaver is alone in the call until it leaves.
			left := make(chan error, 1)
			go func() { left <- call(over, leaver) }()
			awaitAny(t, slices.Concat(w[:who], w[who+1:]))
			cancel()
			err := <-left
			require.ErrorIs(t, err, context.Canceled)
			entered := leaver.Barrier(ctx)
			require.ErrorIs(t, entered, strand.ErrOutOfStep)
			for _, err := range each(others, func(c *strand.Comm) error {
				// Who had all that it needs from the leaver by then may complete this call, but not the next one.
				if err := call(ctx, c); err != nil {
					return err
				}
				return c.Barrier(ctx)
			}) {
				e, is := errors.AsType[*strand.CollectiveError](err)
				require.True(t, is, "%v", err)
				assert.Equal(t, who, e.Rank)
				assert.Equal(t, name, e.Call)
				assert.Contains(t, err.Error(), "context canceled")
				assert.ErrorIs(t, err, strand.ErrOutOfStep)
			}
			goOn(ctx, t, w)
		})
	}
}

// awaitAny waits until some rank has a message without a receive.
func awaitAny(t *testing.T, w []*strand.World) {
	t.Helper()
	ctx := world.Context(t)
	for {
		for _, one := range w {
			_, _, err := one.Comm().Iprobe(strand.AnySource, 1)
			require.NoError(t, err)
			if one.Stats().Unexpected > 0 {
				return
			}
		}
		require.NoError(t, ctx.Err())
		runtime.Gosched()
	}
}

// goOn has all ranks that live go on in a communicator that Shrink makes.
func goOn(ctx context.Context, t *testing.T, w []*strand.World) {
	t.Helper()
	for _, err := range each(comms(w), func(c *strand.Comm) error {
		require.ErrorIs(t, c.Barrier(ctx), strand.ErrOutOfStep)
		d, err := c.Shrink(ctx)
		if err != nil {
			return err
		}
		assert.Equal(t, len(w), d.Size())
		got := make([]int, 1)
		if err := strand.Allreduce(ctx, d, strand.Sum[int](), []int{1}, got); err != nil {
			return err
		}
		assert.Equal(t, len(w), got[0])
		return d.Free()
	}) {
		require.NoError(t, err)
	}
}

// A rank that dies ends the call everywhere, also with those that wait for ranks which live.
func TestWhoDiesEndsTheCallEverywhere(t *testing.T) {
	for name, call := range needing {
		t.Run(name, func(t *testing.T) {
			const n = 6
			jobs := world.ToldJobs(n)
			w := openTold(t, jobs)
			ctx := world.Context(t)
			victim := 3 // a rank that others send to in each call
			living := slices.Concat(w[:victim], w[victim+1:])
			ended := make(chan []error, 1)
			go func() { ended <- each(comms(living), func(c *strand.Comm) error { return call(ctx, c) }) }()
			if name != "Split" { // in which the victim is told something at the end
				awaitAny(t, w[victim:victim+1])
			}
			jobs[victim].Abort(1, "it dies")
			for _, err := range <-ended {
				require.Error(t, err)
				e, is := errors.AsType[*strand.PeerFailedError](err)
				require.True(t, is, "%v", err)
				assert.Equal(t, victim, e.Rank)
				assert.ErrorIs(t, err, strand.ErrPeerFailed)
			}
			for _, err := range each(comms(living), func(c *strand.Comm) error {
				flags, err := c.Agree(ctx, ^uint64(1<<c.Rank()))
				assert.ErrorIs(t, err, strand.ErrPeerFailed, "nobody has taken note")
				assert.Equal(t, ^uint64(0b110111), flags)
				return c.AckFailed()
			}) {
				require.NoError(t, err)
			}
			for _, err := range each(comms(living), func(c *strand.Comm) error { _, err := c.Agree(ctx, 1); return err }) {
				require.NoError(t, err, "all have taken note")
			}
			goOn(ctx, t, living)
		})
	}
}

// openTold opens worlds. When one of the jobs aborts, the others take it for dead.
func openTold(t *testing.T, jobs []launch.Job, opts ...strand.Option) []*strand.World {
	t.Helper()
	w, errs := make([]*strand.World, len(jobs)), make([]error, len(jobs))
	var opening sync.WaitGroup
	for i, j := range jobs {
		opening.Go(func() {
			w[i], errs[i] = strand.Init(world.Context(t), append([]strand.Option{strand.WithJob(j), world.FromEnvironment()}, opts...)...)
		})
	}
	opening.Wait()
	require.NoError(t, errors.Join(errs...))
	t.Cleanup(func() { _ = each(comms(w), func(c *strand.Comm) error { return c.World().Close() }) })
	return w
}

// watched is a context that tells when somebody waits for its end: then the call is under way.
type watched struct {
	context.Context
	waits chan struct{}
	once  *sync.Once
}

func (w watched) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}

// A rank that leaves Dup is missed in the communicator that the others have made, which takes no calls and no agreements.
func TestWhoLeavesDupIsMissedInWhatItMakes(t *testing.T) {
	w := world.Open(t, 4)
	ctx := world.Context(t)
	made := make([]*strand.Comm, 2)
	for rank := range made { // they need no other rank; rank 3 waits for rank 2
		var err error
		made[rank], err = w[rank].Comm().Dup(ctx)
		require.NoError(t, err)
	}
	under, cancel := context.WithCancel(ctx)
	over := watched{under, make(chan struct{}), new(sync.Once)}
	left := make(chan error, 1)
	go func() { left <- dup(over, w[3].Comm()) }()
	<-over.waits
	ended := make(chan error, 1)
	go func() { _, err := made[1].Shrink(ctx); ended <- err }()
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	require.ErrorIs(t, made[0].Barrier(ctx), strand.ErrOutOfStep)
	require.ErrorIs(t, <-ended, strand.ErrOutOfStep)
	for range 20 { // however often, and nothing is kept of it
		_, err := made[1].Agree(ctx, 1)
		require.ErrorIs(t, err, strand.ErrOutOfStep)
	}
	if late, err := w[2].Comm().Dup(ctx); err == nil { // rank 2 had not heard of it yet
		err = late.Barrier(ctx)
		require.ErrorIs(t, err, strand.ErrOutOfStep)
	} else {
		require.ErrorIs(t, err, strand.ErrOutOfStep)
	}
	goOn(ctx, t, w)
}

// A rank that never makes a communicator answers nothing that it is sent there, and no call waits for that.
func TestWhoNeverMakesACommunicatorIsNotWaitedFor(t *testing.T) {
	for name, call := range map[string]func(context.Context, *strand.Comm) error{
		"blocks":            func(ctx context.Context, c *strand.Comm) error { return c.Bcast(ctx, make([]byte, 1<<20), 0) },
		"goes on by itself": func(ctx context.Context, c *strand.Comm) error { return waited(ctx)(c.Ibcast(make([]byte, 1<<20), 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.Open(t, 2)
			ctx := world.Context(t)
			made, err := w[0].Comm().Dup(ctx) // it needs no other rank
			require.NoError(t, err)
			awaitUnexpected(t, w[1])
			ended, before := make(chan error, 1), w[1].Stats().Unexpected
			go func() { ended <- call(ctx, made) }()
			for w[1].Stats().Unexpected == before {
				_, _, err := w[1].Comm().Iprobe(0, 1)
				require.NoError(t, err)
				require.NoError(t, ctx.Err())
				runtime.Gosched()
			}
			require.NoError(t, w[1].Comm().Revoke()) // so it does not call Dup any more
			err = <-ended
			require.ErrorIs(t, err, strand.ErrOutOfStep)
			require.ErrorIs(t, err, strand.ErrUnderway, "nobody answers, and it is the caller's memory")
			goOn(ctx, t, w)
		})
	}
}

// Who has left a call is missed too in what was made of the communicator that the call made, even if that one was freed meanwhile.
func TestWhoLeavesIsMissedInWhatWasMadeOfThat(t *testing.T) {
	for name, frees := range map[string]bool{"there": false, "freed": true} {
		t.Run(name, func(t *testing.T) {
			const n = 3
			w := world.Open(t, n)
			ctx := world.Context(t)
			// The id of a new communicator goes from rank 0 to all, so that ranks 0 and 1 need not wait for rank 2.
			makers := comms(w[:2])
			last := make([]*strand.Comm, 2)
			for _, err := range each(makers, func(c *strand.Comm) error {
				d, err := c.Dup(ctx)
				if err != nil {
					return err
				}
				if last[c.Rank()], err = d.Dup(ctx); err == nil && frees {
					err = d.Free()
				}
				return err
			}) {
				require.NoError(t, err)
			}
			require.NoError(t, w[2].Comm().Revoke())
			for _, err := range each(last, func(c *strand.Comm) error { return c.Barrier(ctx) }) {
				e, is := errors.AsType[*strand.CollectiveError](err)
				require.True(t, is, "%v", err)
				assert.Equal(t, 2, e.Rank)
			}
			goOn(ctx, t, w)
		})
	}
}

// Who leaves a call that goes on by itself has made those that it has begun since, and makes no other; nor does who hears of it. So a communicator
// stays that one of these has made everywhere, and no other one.
func TestWhatWasMadeSinceTheCallThatIsLeft(t *testing.T) {
	const n, who, nobody = 3, 2, -1
	for name, absent := range map[string]int{"everywhere": nobody, "but there": who, "but elsewhere": 1} {
		t.Run(name, func(t *testing.T) {
			w := world.Open(t, n)
			ctx := world.Context(t)
			until, under, made := make(chan struct{}), make([]strand.Request, n), make([]*strand.Comm, n)
			op := strand.NewOp(func(a, b int) int { // the root alone combines
				<-until
				runtime.Goexit()
				return a + b
			}, true)
			together(t, w, func(ctx context.Context, c *strand.Comm) (err error) {
				if under[c.Rank()], err = strand.Ireduce(c, op, []int{1}, make([]int, 1), who); err != nil || c.Rank() == absent {
					return err
				}
				made[c.Rank()], err = c.Dup(ctx) // the others need not wait for the last rank
				return err
			})
			close(until)
			require.ErrorContains(t, waited(ctx)(under[who], nil), "ended the goroutine")
			if absent == nobody {
				for _, err := range each(made, func(c *strand.Comm) error { return c.Barrier(ctx) }) {
					require.NoError(t, err)
				}
			} else {
				require.ErrorIs(t, made[0].Barrier(ctx), strand.ErrOutOfStep)
			}
			goOn(ctx, t, w)
		})
	}
}

// An operation that panics leaves the call, as an error would: the others hear of it, though the program goes on.
func TestWhoPanicsInACallEndsItEverywhere(t *testing.T) {
	for _, algorithm := range []string{"doubling", "shared", "lent"} {
		t.Run(algorithm, func(t *testing.T) {
			const n, nobody = 3, -1
			w := world.Open(t, n, strand.WithParam("coll_allreduce", algorithm))
			ctx := world.Context(t)
			together(t, w, func(ctx context.Context, c *strand.Comm) error {
				for range making + 1 { // then they may have memory in common
					if err := c.Barrier(ctx); err != nil {
						return err
					}
				}
				return nil
			})
			var who atomic.Int64 // the first that is asked to combine: not every rank is, with every algorithm
			who.Store(nobody)
			errs := each(comms(w), func(c *strand.Comm) (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = c.Barrier(ctx)
					}
				}()
				op := strand.NewOp(func(a, b int) int {
					if who.CompareAndSwap(nobody, int64(c.Rank())) {
						panic("it can not")
					}
					return a + b
				}, true)
				if err := strand.Allreduce(ctx, c, op, make([]int, 50_000), make([]int, 50_000)); err != nil {
					return err
				}
				return c.Barrier(ctx)
			})
			for rank, err := range errs {
				require.ErrorIs(t, err, strand.ErrOutOfStep)
				require.ErrorContains(t, err, "panicked")
				if e, is := errors.AsType[*strand.CollectiveError](err); int64(rank) != who.Load() {
					require.True(t, is, "%v", err)
					assert.EqualValues(t, who.Load(), e.Rank)
					assert.Equal(t, "Allreduce", e.Call)
				}
			}
			goOn(ctx, t, w)
		})
	}
}

// Who ends the goroutine of a call that goes on by itself, in an operation, has left it, as with a blocking call.
func TestWhoEndsTheGoroutineOfACallEndsItEverywhere(t *testing.T) {
	const n = 2
	w := world.Open(t, n)
	ctx := world.Context(t)
	op := strand.NewOp(func(a, b int) int {
		runtime.Goexit()
		return a + b
	}, false)
	for _, err := range each(comms(w), func(c *strand.Comm) error {
		err := waited(ctx)(strand.Ireduce(c, op, []int{1}, make([]int, 1), 0))
		if c.Rank() == 0 {
			assert.ErrorContains(t, err, "ended the goroutine")
		}
		return c.Barrier(ctx)
	}) {
		require.ErrorIs(t, err, strand.ErrOutOfStep)
		require.ErrorContains(t, err, "Reduce")
	}
	goOn(ctx, t, w)
}

// A call that ends since another one has ended early says so, and not that its own lengths do not fit.
func TestCallThatEndsWithAnother(t *testing.T) {
	w := world.Open(t, 3)
	ctx := world.Context(t)
	for _, err := range each(comms(w), func(c *strand.Comm) error { return c.Barrier(ctx) }) {
		require.NoError(t, err)
	}
	var barrier strand.Request
	errs := each(comms(w[:2]), func(c *strand.Comm) error {
		r, err := c.Ibarrier() // rank 2 does not come
		if c.Rank() == 0 {
			barrier = r
		}
		if err != nil {
			return err
		}
		return c.Bcast(ctx, make([]byte, 8+8*c.Rank()), 1)
	})
	require.NoError(t, errs[1])
	require.ErrorIs(t, errs[0], strand.ErrTruncated)
	assert.ErrorContains(t, errs[0], "Bcast: rank 1 has sent 16 bytes where 8 are due on rank 0")
	_, err := barrier.Wait(ctx)
	assert.ErrorIs(t, err, strand.ErrOutOfStep)
	assert.ErrorContains(t, err, "Bcast has ended early on this rank (Bcast: rank 1 has sent 16 bytes where 8 are due on rank 0")
}
