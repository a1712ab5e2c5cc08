package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/whowaits"
)

// playStuck has two ranks wait for each other, for ever: a call whose context ends is no part of a deadlock. Others wait for nothing that Strand knows of.
func playStuck() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		if w.Rank() > 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		_, err := w.Comm().Recv(context.WithoutCancel(ctx), make([]byte, 8), 1-w.Rank(), 7)
		return err
	})
}

// playWaitedFor has one rank wait for another, which waits for nothing that Strand knows of.
func playWaitedFor() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		_, err := w.Comm().Recv(ctx, make([]byte, 8), 1, 7)
		return err
	})
}

// awaitStuck returns when two ranks wait, and all have said how they are.
func awaitStuck(t *testing.T, dir string) live.Answer {
	t.Helper()
	return awaitWaits(t, dir, func(r whowaits.Rank) bool { return r.Rank < 2 })
}

// awaitWaits returns when certain ranks wait, and all have said how they are.
func awaitWaits(t *testing.T, dir string, who func(whowaits.Rank) bool) live.Answer {
	t.Helper()
	for start := time.Now(); ; {
		require.Less(t, time.Since(start), time.Minute)
		answers, err := live.Jobs(dir)
		require.NoError(t, err)
		if len(answers) == 0 {
			continue // it is not there yet
		}
		stuck := 0
		for _, r := range live.Waits(answers[0].Ranks) {
			if r.Report != nil && (!who(r) || len(r.Report.Waits) > 0 && r.Report.Waits[0].Blocked) {
				stuck++
			}
		}
		if stuck == answers[0].Size {
			return answers[0]
		}
	}
}

// Where nothing was found, SIGQUIT says behind the stacks too whom others wait for.
func TestQuitNamesWhoIsWaitedFor(t *testing.T) {
	c, out := playing(t, "waitedfor", 2)
	signals := make(chan os.Signal, 1)
	c.Signals, c.LiveDir = signals, filepath.Join(t.TempDir(), "jobs")
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	awaitWaits(t, c.LiveDir, func(r whowaits.Rank) bool { return r.Rank == 0 })
	signals <- syscall.SIGQUIT
	require.Error(t, <-over)
	_, after, found := strings.Cut(out.String(), "SIGQUIT: quit")
	require.True(t, found, "%s", out)
	assert.Contains(t, after, "strand run: why the ranks have waited:\n  => No deadlock was found.\n  => Others wait for rank 1, which is in no call that waits:")
}

// Of many ranks the explanation shows some, and whom others wait for whoever that is.
func TestExplanationOfManyRanks(t *testing.T) {
	e := explanation{ranks: make([]whowaits.Rank, 100), awaited: []int{99}}
	for rank := range e.ranks {
		e.ranks[rank] = whowaits.Rank{Rank: rank, Report: &whowaits.Report{}}
	}
	e.ranks[99] = whowaits.Rank{Rank: 99, Silent: "does not answer"}
	var b strings.Builder
	e.write(&b)
	assert.Contains(t, b.String(), "rank 63: waits for nothing")
	assert.Contains(t, b.String(), "  and 36 ranks more\n  => No deadlock was found.\n  => Others wait for rank 99, which does not answer.\n")
}

// A job whose time is over says what its ranks wait for.
func TestTimeoutExplains(t *testing.T) {
	for timeout := 200 * time.Millisecond; ; timeout *= 2 { // a busy machine takes its time to start ranks
		c, out := playing(t, "stuck", 2)
		c.Timeout = timeout
		var late *TimeoutError
		require.ErrorAs(t, Run(context.Background(), c), &late)
		assert.Equal(t, []int{0, 1}, late.Running)
		text := out.String()
		if timeout < time.Minute && !strings.Contains(text, "=> a cycle") {
			continue
		}
		assert.Contains(t, text, fmt.Sprintf("strand run: --timeout %v is over: what the ranks wait for:\n  rank 0: waits for a receive from rank 1, tag 7, in Comm.Recv at explain_test.go:", timeout))
		assert.Contains(t, text, "=> a cycle of waits: rank 0 waits for rank 1 (")
		return
	}
}

// playNoStart has rank 1 run and not join.
func playNoStart() {
	if os.Getenv("PMI_RANK") == "1" {
		<-time.After(forever)
	}
	playWorld(func(context.Context, *strand.World) error { return nil })
}

// Ranks that are in Init give no report, but the launcher knows whom they wait for.
func TestInitIsExplained(t *testing.T) {
	const waits = "waits in the launcher's barrier, as Init does, for rank 1"
	c, out := playing(t, "no start", 3)
	c.LiveDir, c.overdue = filepath.Join(t.TempDir(), "jobs"), make(chan struct{}, 1)
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	for start := time.Now(); ; {
		require.Less(t, time.Since(start), time.Minute, "ranks 0 and 2 never wait")
		answers, err := live.Jobs(c.LiveDir)
		require.NoError(t, err)
		if len(answers) == 1 && answers[0].Ranks[0].Silent == waits && answers[0].Ranks[2].Silent == waits {
			assert.NotZero(t, answers[0].Ranks[0].PID)
			break
		}
	}
	c.overdue <- struct{}{}
	var late *TimeoutError
	require.ErrorAs(t, <-over, &late)
	assert.Contains(t, out.String(), "what the ranks wait for:\n  rank 0: "+waits+"\n  rank 1: has not joined the job: it has not come as far as Init, or does not use Strand\n  rank 2: "+waits+"\n")
}

// SIGQUIT has the launcher say what the ranks wait for, and then the ranks what their goroutines do.
// A rank that is stopped does not hold it up.
func TestQuitExplains(t *testing.T) {
	c, out := playing(t, "stuck", 3)
	signals := make(chan os.Signal, 1)
	c.Signals, c.LiveDir = signals, filepath.Join(t.TempDir(), "jobs")
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	stopped := awaitStuck(t, c.LiveDir).Ranks[2].PID
	require.NoError(t, syscall.Kill(stopped, syscall.SIGSTOP))
	signals <- syscall.SIGQUIT
	out.Await(t, "=> ", 1)
	require.NoError(t, syscall.Kill(stopped, syscall.SIGCONT))
	var failure *RankError
	require.ErrorAs(t, <-over, &failure, "%s", out)
	assert.Equal(t, quitStatus, failure.Code)
	text := out.String()
	assert.Contains(t, text, "=> a cycle of waits: rank 0 waits for rank 1 (")
	assert.Contains(t, text, "rank 2: does not answer within 1s")
	before, after, found := strings.Cut(text, "SIGQUIT: quit")
	require.True(t, found, "%s", text)
	assert.Contains(t, before, "strand run: SIGQUIT, which is passed on next: what the ranks wait for:")
	assert.Contains(t, after, "strand run: why the ranks have waited:\n  => a cycle")
}

// Ranks of other hosts say what they wait for too.
func TestTimeoutExplainsElsewhere(t *testing.T) {
	for timeout := 500 * time.Millisecond; ; timeout *= 2 {
		c, out, _ := elsewhere(t, "stuck")
		c.Timeout = timeout
		var late *TimeoutError
		require.ErrorAs(t, Run(t.Context(), c), &late)
		if timeout > time.Minute || strings.Contains(out.String(), "=> a cycle") {
			assert.Contains(t, out.String(), "=> a cycle of waits: rank 0 waits for rank 1 (")
			return
		}
	}
}
