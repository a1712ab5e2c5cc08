package members_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// abortable is a job that notes how it was aborted.
type abortable struct {
	*strandtest.Job
	mu     sync.Mutex
	aborts []string
	closed int
}

func (j *abortable) Abort(code int, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.aborts = append(j.aborts, fmt.Sprintf("%d: %s", code, message))
}

func (j *abortable) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed++
	return nil
}

// runAll calls Run for each rank of a job in this process and returns how each
// has ended.
func runAll(t *testing.T, n int, f func(ctx context.Context, w *strand.World) error) ([]*abortable, []error) {
	t.Helper()
	leak.Check(t)
	return runBeside(t, n, f)
}

// runBeside is runAll for a test that runs beside others.
func runBeside(t *testing.T, n int, f func(ctx context.Context, w *strand.World) error) ([]*abortable, []error) {
	t.Helper()
	jobs, errs := make([]*abortable, n), make([]error, n)
	var wg sync.WaitGroup
	for i, j := range strandtest.NewJobs(n) {
		jobs[i] = &abortable{Job: j}
		wg.Go(func() { errs[i] = strand.Run(world.Context(t), f, strand.WithJob(jobs[i]), world.FromEnvironment()) })
	}
	wg.Wait()
	return jobs, errs
}

func TestRun(t *testing.T) {
	jobs, errs := runAll(t, 3, func(ctx context.Context, w *strand.World) error {
		assert.Equal(t, 3, w.Size())
		assert.Equal(t, "localhost", w.Hostname())
		assert.Equal(t, "strandtest", w.Launcher())
		assert.Same(t, w, w.Comm().World())
		return w.Comm().Barrier(ctx)
	})
	for i := range jobs {
		require.NoError(t, errs[i])
		assert.Empty(t, jobs[i].aborts)
		assert.Equal(t, 1, jobs[i].closed)
	}
}

// An error of one rank aborts the job with its message and comes back to main.
func runWithAnError(t *testing.T) {
	wrong := errors.New("the input is wrong")
	jobs, errs := runBeside(t, 2, func(ctx context.Context, w *strand.World) error {
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		if w.Rank() == 1 {
			return wrong
		}
		_, err := w.Comm().Recv(ctx, nil, 1, 1) // as nobody kills it, it finds out by itself
		return err
	})
	assert.Equal(t, wrong, errs[1])
	assert.Equal(t, []string{"1: the input is wrong"}, jobs[1].aborts)
	assert.Zero(t, jobs[1].closed, "the launcher does not take it for an end in order")
	var failed *strand.PeerFailedError
	require.ErrorAs(t, errs[0], &failed)
	assert.Equal(t, 1, failed.Rank)
}

// So does a panic; it is told with where it happened, and the process exits.
func TestRunWithAPanic(t *testing.T) {
	jobs, errs := runAll(t, 1, func(context.Context, *strand.World) error {
		panic("assignment to entry in nil map")
	})
	assert.EqualError(t, errs[0], "rank 0: panic: assignment to entry in nil map")
	assert.Equal(t, []string{"2: panic: assignment to entry in nil map"}, jobs[0].aborts)
}

// So does a function that ends its goroutine, as t.FailNow does: its rank must
// not leave the others waiting.
func runWithAGoexit(t *testing.T) {
	jobs := strandtest.NewJobs(2)
	left := &abortable{Job: jobs[1]}
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
			if w.Comm().Barrier(ctx) == nil {
				runtime.Goexit()
			}
			return nil
		}, strand.WithJob(left), world.FromEnvironment())
		t.Error("Run returned to a goroutine that has ended")
	})
	err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		_, err := w.Comm().Recv(ctx, nil, 1, 1)
		return err
	}, strand.WithJob(&abortable{Job: jobs[0]}), world.FromEnvironment())
	wg.Wait()
	var failed *strand.PeerFailedError
	require.ErrorAs(t, err, &failed)
	require.Len(t, left.aborts, 1)
	assert.Regexp(t, "^2: the function given to Run ended by runtime.Goexit", left.aborts[0])
	assert.Zero(t, left.closed)
}

// follower is a job that notes which rank's failure it is aborted for.
type follower struct {
	*abortable
	after []int
}

func (j *follower) AbortAfter(rank, code int, message string) {
	j.mu.Lock()
	j.after = append(j.after, rank)
	j.mu.Unlock()
	j.Abort(code, message)
}

// An error that another rank's failure has led to names that rank to the launcher.
func runAfterAFailure(t *testing.T) {
	jobs := strandtest.NewJobs(2)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
			if err := w.Comm().Barrier(ctx); err != nil {
				return err
			}
			return errors.New("no more")
		}, strand.WithJob(&abortable{Job: jobs[1]}), world.FromEnvironment())
		assert.Error(t, err)
	})
	job := &follower{abortable: &abortable{Job: jobs[0]}}
	err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		_, err := w.Comm().Recv(ctx, nil, 1, 1)
		return fmt.Errorf("while waiting: %w", err)
	}, strand.WithJob(job), world.FromEnvironment())
	wg.Wait()
	assert.ErrorIs(t, err, strand.ErrPeerFailed)
	assert.Equal(t, []int{1}, job.after)
	assert.Len(t, job.aborts, 1)
}

// Who ends with an error has failed, to those that it was connected to as well: it does not leave
// in order, though nothing is under way.
func runWithAnErrorIsAFailure(t *testing.T) {
	jobs := strandtest.NewJobs(2)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
			if err := w.Comm().Ssend(ctx, nil, 0, 1); err != nil {
				return err
			}
			return errors.New("no more")
		}, strand.WithJob(&abortable{Job: jobs[1]}), world.FromEnvironment())
		assert.Error(t, err)
	})
	job := &follower{abortable: &abortable{Job: jobs[0]}}
	err := strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
		if _, err := w.Comm().Recv(ctx, nil, 1, 1); err != nil {
			return err
		}
		_, err := w.Comm().Recv(ctx, nil, 1, 1)
		return err
	}, strand.WithJob(job), world.FromEnvironment())
	wg.Wait()
	assert.ErrorIs(t, err, strand.ErrPeerFailed)
	assert.Equal(t, []int{1}, job.after)
}

// Who has no descriptor to reach another one with has failed itself.
func TestRunWithoutDescriptors(t *testing.T) {
	jobs := strandtest.NewJobs(2)
	job := &follower{abortable: &abortable{Job: jobs[0]}}
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, strand.Run(world.Context(t), func(context.Context, *strand.World) error { return nil }, strand.WithJob(jobs[1]), world.FromEnvironment()))
	})
	err := strand.Run(world.Context(t), func(context.Context, *strand.World) error {
		return &strand.PeerFailedError{Rank: 1, WorldRank: 1, Cause: fmt.Errorf("socket: %w", syscall.EMFILE)}
	}, strand.WithJob(job), world.FromEnvironment())
	wg.Wait()
	assert.Error(t, err)
	assert.Empty(t, job.after)
	assert.Len(t, job.aborts, 1)
}

// A world of one has nobody to abort.
func TestRunAloneWithAnError(t *testing.T) {
	wrong := errors.New("wrong")
	jobs, errs := runAll(t, 1, func(context.Context, *strand.World) error { return wrong })
	assert.Equal(t, wrong, errs[0])
	assert.Empty(t, jobs[0].aborts)
}

func TestRunWithBadParameters(t *testing.T) {
	leak.Check(t)
	for _, c := range []struct{ name, value, says string }{
		{"pml_lans", "5", "did you mean pml_lanes"},
		{"pml_lanes", "0", "pml_lanes"},
		{"pml_lanes", "many", "many"},
		{"btl", "nosuch", "nosuch"},
		{"btl", "^tcp,self,^", "^"},
	} {
		job := &abortable{Job: strandtest.NewJobs(1)[0]}
		err := strand.Run(world.Context(t), func(context.Context, *strand.World) error {
			t.Error("the program must not start")
			return nil
		}, strand.WithJob(job), world.FromEnvironment(), strand.WithParam(c.name, c.value))
		assert.ErrorContains(t, err, c.says, "%s=%s", c.name, c.value)
	}
}

// Abort tells the launcher and ends the process, here one without an end.
func TestAbort(t *testing.T) {
	leak.Check(t)
	job := &abortable{Job: strandtest.NewJobs(1)[0]}
	w, err := strand.Init(world.Context(t), strand.WithJob(job), world.FromEnvironment())
	require.NoError(t, err)
	w.Abort(7, "enough")
	assert.Equal(t, []string{"7: enough"}, job.aborts)
	require.NoError(t, w.Close())
}

// With one processor only, Run lets Go use two threads, unless the user wants
// something else.
func TestRunWithOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		variable    string
		procs, want int
	}{{"", 1, 2}, {"1", 1, 1}, {"", 3, 3}} {
		t.Setenv("GOMAXPROCS", c.variable)
		runtime.GOMAXPROCS(c.procs)
		_, errs := runAll(t, 1, func(context.Context, *strand.World) error {
			assert.Equal(t, c.want, runtime.GOMAXPROCS(0))
			return nil
		})
		require.NoError(t, errs[0])
	}
}

// What a world tells of its connections.
func TestReports(t *testing.T) {
	w, ctx := world.Open(t, 3, strand.WithParam("btl", "tcp,self")), world.Context(t)
	require.NoError(t, w[0].Comm().Bsend(ctx, make([]byte, 100), 1, 1))
	_, err := w[1].Comm().Recv(ctx, make([]byte, 100), 0, 1)
	require.NoError(t, err)
	rails := w[0].Rails()
	require.Len(t, rails, 1, "there was no contact with rank 2")
	assert.Equal(t, []any{1, "localhost", "tcp", true}, []any{rails[0].Peer, rails[0].Host, rails[0].Component, rails[0].Up})
	assert.EqualValues(t, 1, rails[0].Traffic.Sent)
	assert.EqualValues(t, 100, rails[0].Traffic.BytesSent)
	assert.NotEmpty(t, w[0].Reasons()[1])
	assert.EqualValues(t, 100, w[1].Rails()[0].Traffic.BytesReceived)
	assert.Equal(t, "10", w[0].Params().Value("pml_lanes").Text)
}
