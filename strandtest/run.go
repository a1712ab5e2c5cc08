package strandtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
)

// Timeout is how long a program may take before it counts as hung.
const Timeout = 2 * time.Minute

// An Option changes how [Run] opens the worlds.
type Option = strand.Option

// Run runs f on n ranks, each a goroutine with a world of its own, and fails the
// test if one returns an error or panics, or if they have not all ended within
// Timeout: then their context ends. A rank that does not look at it, since it waits for a channel for example, holds
// up Run. If a rank skips the test, Run ends the other ranks and the test. The ranks use the transports of the registry that is built in, unless
// an option says otherwise. By default these are self and, between ranks, shared memory on Linux
// and tcp over the loopback elsewhere.
func Run(t testing.TB, n int, f func(ctx context.Context, w *strand.World) error, opts ...Option) {
	t.Helper()
	for rank, err := range Try(t, n, f, opts...) {
		if err != nil && !skips(t, err) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	switch {
	case t.Failed():
		t.FailNow()
	case t.Skipped():
		t.SkipNow() //nolint:forbidigo // a rank of the user's has said so
	}
}

// skips reports whether a rank has ended only because it, or another one, has skipped the test.
func skips(t testing.TB, err error) bool {
	return t.Skipped() && (errors.Is(err, errGaveUp) || errors.Is(err, context.Canceled))
}

// Try is Run, but returns how each rank has ended.
func Try(t testing.TB, n int, f func(ctx context.Context, w *strand.World) error, opts ...Option) []error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Timeout,
		fmt.Errorf("the program has not ended within %v", Timeout))
	defer cancel()
	jobs := NewJobs(n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for rank := range n {
		wg.Go(func() {
			errs[rank] = errGaveUp
			defer func() {
				if p := recover(); p != nil {
					errs[rank] = fmt.Errorf("panic: %v", p)
					cancel()
					panic(p)
				}
				if errs[rank] != nil {
					cancel() // as a launcher would end the others
				}
			}()
			errs[rank] = runRank(ctx, t, jobs[rank], f, opts)
		})
	}
	wg.Wait()
	return errs
}

func runRank(ctx context.Context, t testing.TB, job *Job, f func(context.Context, *strand.World) error, opts []Option) error {
	all := append([]strand.Option{
		strand.WithLog(func(_ btl.LogLevel, line string) { t.Log(line) }),
		strand.WithJob(job),
	}, opts...)
	w, err := strand.Init(ctx, all...)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // should f not return
	if err := f(ctx, w); err != nil {
		return err
	}
	return w.Close()
}

// errGaveUp is how a rank ends that calls FailNow, as the assertions of package
// require do.
var errGaveUp = errors.New("gave up before the end")
