package pml

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/wire"
)

// unlocked is receiving for tests whose calls take the lock.
func unlocked(t *testing.T) (*peer, *scripted, *Context) {
	pe, ep, c := receiving(t)
	pe.pml.engine.Unlock()
	t.Cleanup(pe.pml.engine.Lock)
	return pe, ep, c
}

// begin starts a completion.
func begin(t *testing.T, c *Context, abandoned func()) Completion {
	t.Helper()
	d, err := c.NewCompletion(abandoned)
	require.NoError(t, err)
	return d
}

// eager is the header of a message of its own frame, the n'th.
func eager(n uint32) []byte {
	return encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n, Size: 1})
}

// What another goroutine completes, and what a message completes, are waited for together.
func TestCompletionIsWaitedForWithAReceive(t *testing.T) {
	waits := map[string]func(context.Context, []Request) (int, error){
		"all": func(ctx context.Context, reqs []Request) (int, error) {
			failed, err := WaitAll(ctx, reqs, nil)
			return len(reqs), errors.Join(err, firstError(failed))
		},
		"any": func(ctx context.Context, reqs []Request) (int, error) {
			i, st, err := WaitAny(ctx, reqs)
			require.Equal(t, []int{42, 1}[i], st.Source)
			return 1, err
		},
		"some": func(ctx context.Context, reqs []Request) (int, error) {
			out, err := WaitSome(ctx, reqs, nil)
			return len(out), err
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			pe, _, c := unlocked(t)
			e := pe.pml.engine
			for n := range uint32(20) {
				d := begin(t, c, nil)
				e.Lock()
				r := requestOf(post(t, c, make([]byte, 1)))
				e.Unlock()
				go d.Done(Status{Source: 42}, nil)
				go func() {
					e.Lock()
					defer e.Unlock()
					if err := pe.rails[0].Deliver(eager(n), []byte{1}); err != nil {
						t.Error(err)
					}
				}()
				reqs := []Request{d.Request(), r}
				for done := 0; done < len(reqs); {
					n, err := wait(t.Context(), reqs)
					require.NoError(t, err)
					done += n
				}
			}
		})
	}
}

func firstError(failed []Outcome) error {
	if len(failed) == 0 {
		return nil
	}
	return failed[0].Err
}

// The first word counts, and a request that has ended does not hear another one.
func TestCompletionIsDoneOnce(t *testing.T) {
	_, _, c := unlocked(t)
	d, wrong := begin(t, c, nil), errors.New("it did not work")
	_, done, err := d.Request().Test()
	require.NoError(t, err)
	require.False(t, done)
	d.Done(Status{Count: 7}, wrong)
	d.Done(Status{}, nil)
	st, err := d.Request().Wait(t.Context())
	require.ErrorIs(t, err, wrong)
	require.Equal(t, 7, st.Count)
	next := begin(t, c, nil)
	require.Same(t, d.request.op, next.request.op, "the same place, in another life")
	d.Done(Status{}, nil)
	_, done, err = next.Request().Test()
	require.NoError(t, err)
	require.False(t, done)
	require.False(t, next.Request().Cancel(), "only a receive can be taken back")
	next.Done(Status{}, nil)
	_, err = next.Request().Wait(t.Context())
	require.NoError(t, err)
}

// A wait whose context ends leaves the request as it is. Who leaves it altogether says so to
// who would complete it.
func TestCompletionIsLeft(t *testing.T) {
	pe, _, c := unlocked(t)
	told := 0
	d := begin(t, c, func() { told++ })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Request().Wait(over)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, told)
	Leave(d.Request())
	require.Equal(t, 1, told)
	used := pe.pml.ops.used
	d.Done(Status{}, nil)
	require.Equal(t, used-1, pe.pml.ops.used, "the last who knew of it has gone")

	var within Completion
	within = begin(t, c, func() { within.DoneLocked(Status{}, nil) })
	Leave(within.Request())
	require.Equal(t, used-1, pe.pml.ops.used)
}

// What nobody completes ends with the world.
func TestCompletionEndsWithTheWorld(t *testing.T) {
	pe, _, c := unlocked(t)
	d := begin(t, c, nil)
	pe.pml.eachOperation((*operation).close)
	_, err := d.Request().Wait(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	pe.pml.closing = true
	_, err = c.NewCompletion(nil)
	require.ErrorIs(t, err, ErrClosed)
}

// It takes memory from the slab, as operations do, and none beside.
func TestCompletionAllocatesNothing(t *testing.T) {
	_, _, c := unlocked(t)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		d, err := c.NewCompletion(nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Done(Status{}, nil)
		if _, err := d.Request().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}))
}
