package compare

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/leak"
)

const small = "pingpong(size=1000,rounds=3,warmup=0)"

// orderOf is what ran when: cell, round and variant, as a line each.
func orderOf(r *results.Report) (lines []string) {
	for i, c := range r.Cells {
		for _, run := range c.Runs {
			lines = append(lines, fmt.Sprintf("cell %d round %d %s", i, run.Round, run.Variant))
		}
	}
	return lines
}

func TestOverTheLoopback(t *testing.T) {
	leak.Check(t)
	file := filepath.Join(t.TempDir(), "results.json")
	c := config(t, plan(t, "tcp,sctp", small+",farm(tasks=20)", 0, 0.01), Loopback{Why: "a test"}, "")
	c.File = file
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, results.Links{Kind: results.Loopback, Why: "a test"}, r.Links)
	assert.Equal(t, []string{
		"cell 0 round 0 tcp", "cell 0 round 0 sctp", "cell 0 round 1 sctp", "cell 0 round 1 tcp",
		"cell 2 round 0 tcp", "cell 2 round 0 sctp", "cell 2 round 1 sctp", "cell 2 round 1 tcp",
	}, orderOf(r))
	for i := range r.Cells {
		assert.Equal(t, i%2 == 1, r.Cells[i].Unable != "", "cell %d", i)
		for _, run := range r.Cells[i].Runs {
			assert.Empty(t, run.Error)
			assert.Equal(t, seedOf(7, run.Round), run.Seed)
			assert.Nil(t, run.Network)
			assert.Positive(t, run.Seconds)
		}
	}
	assert.False(t, r.Interrupted)
	assert.Equal(t, "10", r.Variant("sctp").Facts[results.FactStreams])
	assert.Equal(t, "off", r.Variant("tcp").Facts[results.FactNagle])
	assert.NotEmpty(t, r.Variant("tcp").Facts[results.FactCongestion])
	kept, err := results.Load(file)
	require.NoError(t, err)
	assert.Len(t, kept.Cells[2].Runs, 4)
}

// A folder's name need not be UTF-8, and a report must be.
func TestCommandThatIsNoText(t *testing.T) {
	leak.Check(t)
	c := config(t, plan(t, "tcp", small, 0), Loopback{}, "")
	c.Command, c.File = []string{"strand", "compare", "--out=caf\xe9"}, filepath.Join(t.TempDir(), "results.json")
	_, err := Run(t.Context(), c)
	require.NoError(t, err)
	kept, err := results.Load(c.File)
	require.NoError(t, err)
	assert.Equal(t, []string{"strand", "compare", "--out=caf\ufffd"}, kept.Command)
}

// stoppedAt is the loopback of a process that is stopped (Ctrl-Z) for a while in some runs, counted from the first try-out.
type stoppedAt struct {
	Loopback
	runs   []int
	opened int
	was    bool
}

func (s *stoppedAt) Open(c Conditions) (Site, error) {
	s.was = s.was || slices.Contains(s.runs, s.opened)
	s.opened++
	return s.Loopback.Open(c)
}

func (s *stoppedAt) stopped() (was bool) {
	was, s.was = s.was, false
	return was
}

// A run in which the comparison was stopped is done again: its ranks went on, and what it did not hear of them meanwhile counts as late.
func TestRunsAreDoneAgainWhereTheComparisonWasStopped(t *testing.T) {
	leak.Check(t)
	ground := &stoppedAt{runs: []int{0, 2}, was: true} // the try-out and the first run
	c := config(t, plan(t, "tcp", small, 0), ground, "")
	c.Stopped = ground.stopped
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 2+2+1, ground.opened)
	assert.Equal(t, []string{"cell 0 round 0 tcp", "cell 0 round 1 tcp"}, orderOf(r))
	for _, run := range r.Cells[0].Runs {
		assert.Empty(t, run.Error)
		assert.Len(t, run.Rails, 2, "of one try, an end each")
		assert.Len(t, run.Windows, 1)
	}
}

// A crash fails its own run only. A variant that crashes again and again is not tried any more.
func TestCrash(t *testing.T) {
	leak.Check(t)
	p := plan(t, "tcp,sctp", small, 0)
	p.Runs = patience + 2
	r, err := Run(t.Context(), config(t, p, Loopback{}, crash+"sctp"))
	require.NoError(t, err)
	c := &r.Cells[0]
	assert.Len(t, c.Values("tcp", results.Throughput), p.Runs)
	assert.Empty(t, c.Values("sctp", results.Throughput))
	failures := c.Failures("sctp")
	require.Len(t, failures, patience)
	assert.Regexp(t, `(?s)rank \d on host .*as the test wants it`, failures[0])
	assert.Contains(t, failures[1], "not tried again in this cell, where 2 more runs were to be")
}

// A run whose results no report may hold has failed. The comparison goes on, and can be written.
func TestRunThatIsNoResult(t *testing.T) {
	leak.Check(t)
	c := config(t, plan(t, "tcp,sctp", small, 0), Loopback{}, lie+"tcp")
	c.File = filepath.Join(t.TempDir(), "results.json")
	_, err := Run(t.Context(), c)
	require.NoError(t, err)
	r, err := results.Load(c.File)
	require.NoError(t, err)
	assert.Len(t, r.Cells[0].Good("sctp"), 2)
	failures := r.Cells[0].Failures("tcp")
	require.Len(t, failures, 2)
	assert.Contains(t, failures[0], "what the ranks told is no result: run.metrics.round_trip_p99 is -1: want 0, or 1e-12 to 1e+18")
}

// A report can have the delays of as many tags as a workload.
func TestManyTags(t *testing.T) {
	leak.Check(t)
	c := config(t, plan(t, "tcp", "hol(tags=4096,messages=4096,size=8,interval=0s)", 0), Loopback{}, "")
	c.Plan.Runs, c.File = 1, filepath.Join(t.TempDir(), "results.json")
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Empty(t, r.Cells[0].Failures("tcp"))
	assert.Len(t, r.Cells[0].Runs[0].Delays, 1+4096)
}

// A try-out that hangs names its own bound, not the runs'.
func TestTryOutThatHangs(t *testing.T) {
	err := inTryOut(explain(&job.TimeoutError{Timeout: tryOutTime, Running: []int{0, 1}}, "rank 1 complains"))
	assert.EqualError(t, err, "one message did not come and go within the 30s of a try-out: still running: ranks [0 1]\nrank 1 complains")
}

// What a rank has said before it ended the job is the reason, and it is said once.
func TestTryOutWhoseRanksSayWhy(t *testing.T) {
	const why = "rank 0 can not reach rank 1 on host1: unix: it lives on another host"
	died := &job.RankError{Hostname: "host0", PID: 90, How: job.Aborted, Code: 1, Message: why}
	assert.EqualError(t, inTryOut(explain(died, "strand compare member: "+why+"\nstrand compare member: the same from rank 1")), why)
	killed := &job.RankError{Rank: 1, Hostname: "host1", PID: 91, How: job.Killed, Signal: syscall.SIGKILL}
	assert.EqualError(t, inTryOut(explain(killed, "last words")), "rank 1 on host host1 (pid 91) was killed by signal 9 (SIGKILL)\nlast words")
}

func TestRunThatTakesTooLong(t *testing.T) {
	leak.Check(t)
	p := plan(t, "tcp,sctp", small, 0)
	p.Runs, p.Timeout = 1, time.Second
	c := config(t, p, Loopback{}, hang+"tcp")
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	failures := r.Cells[0].Failures("tcp")
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "the job was not over within --timeout 1s and was ended: still running: ranks 0, 1")
	assert.InDelta(t, 1, r.Cells[0].Of("tcp")[0].Exceeded, 0)
	assert.Len(t, r.Cells[0].Of("sctp"), 1, "the rest goes on")
}

// A variant that can not run at all says so once, in its column.
func TestVariantThatCanNotRun(t *testing.T) {
	leak.Check(t)
	p := plan(t, "tcp,tcp(if_include=10.99.0.0/16)", small, 0)
	r, err := Run(t.Context(), config(t, p, Loopback{}, ""))
	require.NoError(t, err)
	assert.Contains(t, r.Variants[1].Unable, "10.99.0.0/16")
	assert.Len(t, r.Cells[0].Runs, 2)

	p = plan(t, "tcp(if_include=10.99.0.0/16)", small, 0)
	_, err = Run(t.Context(), config(t, p, Loopback{}, ""))
	require.ErrorContains(t, err, "none of the transports can run here\ntcp(if_include=10.99.0.0/16): ")
}

// What was measured before an interruption is kept, and nothing runs on.
func TestInterruption(t *testing.T) {
	leak.Check(t)
	file := filepath.Join(t.TempDir(), "results.json")
	p := plan(t, "tcp", small, 0)
	p.Runs = 1000
	c := config(t, p, Loopback{}, "")
	c.File = file
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c.Watch = func(s State) {
		if s.Done == 2 {
			cancel(enough)
		}
	}
	_, err := Run(ctx, c)
	require.ErrorIs(t, err, enough)
	kept, err := results.Load(file)
	require.NoError(t, err)
	assert.True(t, kept.Interrupted)
	assert.Len(t, kept.Cells[0].Runs, 2)
}
