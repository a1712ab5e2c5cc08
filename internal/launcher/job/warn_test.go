package job

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/launch"
)

// playWarn is a program whose parameters name an interface that there is not.
func playWarn() {
	err := strand.Run(context.Background(), func(context.Context, *strand.World) error { return nil },
		strand.WithParam("btl", "tcp,self"), strand.WithParam("btl_tcp_if_include", "nosuch0,lo"),
		strand.WithParam("btl_tcp_if_unknown", "warn"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// What every rank warns of is shown once, not by each of them.
func TestWarningsAreShownOnce(t *testing.T) {
	c, out := playing(t, "warn", 8)
	require.NoError(t, Run(context.Background(), c), "%s", out)
	told := make(map[string]int)
	for line := range strings.Lines(out.String()) { // one line, unless a rank was slow to start
		_, who, _ := strings.Cut(line, "strand: tcp: ")
		who, what, _ := strings.Cut(who, ": ")
		assert.Regexp(t, `no interface that is up fits "nosuch0"`, what)
		if who == "all 8 ranks" {
			who = "ranks 0, 1, 2, 3, 4, 5, 6, 7"
		}
		for rank := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(who, "ranks "), "rank "), ", ") {
			told[rank]++
		}
	}
	assert.Equal(t, map[string]int{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1, "5": 1, "6": 1, "7": 1}, told, "%s", out)
}

// playLastWarning warns and is gone, without leaving the job. It repeats a warning that was not
// taken: a rank without a processor for a while finds that the time for a warning is over.
func playLastWarning(ctx context.Context, j launch.Job) error {
	for i := range 100 {
		for j.(launch.Listener).Warn(fmt.Sprintf("rank %d: warning %d", j.Rank(), i)) != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	os.Exit(3)
	return nil
}

// A rank's warnings are shown before its failure.
func TestLastWarnings(t *testing.T) {
	c, out := playing(t, "last warn", 1)
	var failure *RankError
	require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
	assert.Equal(t, 100, strings.Count(out.String(), "strand: rank 0: warning "), "%s", out)
}

// gathering returns the warnings of a job of four ranks, and what hands over those
// that were shown since it was last asked.
func gathering() (ws *warnings, shown func() []string) {
	var texts []string
	ws = &warnings{ranks: 4, show: func(text string) { texts = append(texts, text) }}
	return ws, func() []string {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		taken := texts
		texts = nil
		return taken
	}
}

func TestGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, shown := gathering()
		for _, rank := range []int{2, 0, 2, 1} {
			ws.add(rank, fmt.Sprintf("tcp: rank %d: this and\nthat of rank 1", rank))
			<-time.After(gatherPause * 2 / 5)
		}
		assert.Empty(t, shown())
		<-time.After(gatherPause)
		synctest.Wait()
		assert.Equal(t, []string{"strand: tcp: ranks 0, 1, 2: this and\n  that of rank 1\n"}, shown())

		ws.add(3, "tcp: rank 3: this and\nthat of rank 1") // too late to be shown with the others
		ws.add(0, "rank 0: something else")
		ws.add(1, "rank 12: not of its own number")
		ws.add(1, "of no number")
		ws.finish()
		assert.Equal(t, []string{
			"strand: tcp: rank 3: this and\n  that of rank 1\n", "strand: rank 0: something else\n",
			"strand: rank 1: rank 12: not of its own number\n", "strand: rank 1: of no number\n",
		}, shown())
	})
}

// A warning that all ranks have said waits no longer.
func TestWarningOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, shown := gathering()
		for rank := range 4 {
			assert.Empty(t, shown())
			ws.add(rank, fmt.Sprintf("rank %d: no interface eth7", rank))
		}
		assert.Equal(t, []string{"strand: all 4 ranks: no interface eth7\n"}, shown())
	})
}

// Ranks that say the same now and then do not put off the warning for ever.
func TestGatheringEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, shown := gathering()
		ws.ranks = 1000
		start := time.Now()
		for rank := 0; len(shown()) == 0; rank++ {
			require.Less(t, rank, 100)
			ws.add(rank, fmt.Sprintf("rank %d: odd", rank))
			<-time.After(gatherPause / 2)
			synctest.Wait()
		}
		assert.Less(t, time.Since(start), gatherTime+2*gatherPause)
		ws.finish()
	})
}

// Warnings without end are neither kept nor held back.
func TestWarningsThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, shown := gathering()
		for i := range 2 * maxGathered {
			ws.add(1, fmt.Sprintf("rank 1: number %d", i))
		}
		require.Equal(t, maxGathered, len(ws.waiting))
		require.Equal(t, maxGathered, len(shown()))
		ws.finish()
		require.Equal(t, maxGathered, len(shown()))
	})
}
