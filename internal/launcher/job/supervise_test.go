package job

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/control"
)

// abortAfter is the abort of a rank that blames another one, -1 for none.
func abortAfter(rank, after int) event {
	return event{kind: aborted, rank: rank, code: 1, message: "abort", after: after}
}

func TestWhoIsBlamed(t *testing.T) {
	killed := func(rank int) event { return event{kind: exited, rank: rank, status: 9} }
	exit := func(rank int) event { return event{kind: exited, rank: rank, status: 7 << 8} }
	for name, tc := range map[string]struct {
		events  []event
		blamed  int
		how     Ending
		waiting bool
	}{
		"the first":                         {[]event{exit(1), exit(2)}, 1, Exited, false},
		"not what followed":                 {[]event{abortAfter(1, 2), exit(2)}, 2, Exited, false},
		"not what followed from a follower": {[]event{abortAfter(0, 1), abortAfter(1, 2), exit(2)}, 2, Exited, false},
		"an abort of its own":               {[]event{abortAfter(1, 2), abortAfter(2, -1)}, 2, Aborted, false},
		"a signal":                          {[]event{exit(1), killed(2)}, 2, Killed, false},
		"a signal, late":                    {[]event{abortAfter(1, 2), killed(2)}, 2, Killed, false},
		"who follows from what lives":       {[]event{abortAfter(1, 2)}, 1, Aborted, true},
		"over a follower":                   {[]event{abortAfter(0, 1), abortAfter(1, 2)}, 0, Aborted, true},
		"one of two that blame each other":  {[]event{abortAfter(1, 2), abortAfter(2, 1)}, 1, Aborted, false},
		"an abort stands":                   {[]event{abortAfter(1, -1), exit(2), abortAfter(0, 1)}, 1, Aborted, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestSupervisor(t)
			for _, e := range tc.events {
				s.handle(e)
			}
			failure, ok := errors.AsType[*RankError](s.verdict)
			require.True(t, ok)
			if tc.waiting { // on a busy machine the news may come after the end was begun
				s.stop()
				s.handle(killed(2))
				assert.Equal(t, tc.blamed, verdictOf(s).Rank, "the launcher itself has killed it")
			}
			assert.Equal(t, tc.blamed, failure.Rank)
			assert.Equal(t, tc.how, failure.How)
			assert.Equal(t, tc.waiting, s.awaitsCause(failure))
		})
	}
}

func verdictOf(s *supervisor) *RankError {
	failure, _ := errors.AsType[*RankError](s.verdict)
	return failure
}

// The launcher may hear of the cause only when it is already ending the job.
func TestCauseThatComesLate(t *testing.T) {
	s := newTestSupervisor(t)
	s.handle(abortAfter(1, 2))
	s.stop()
	s.handle(event{kind: exited, rank: 3, status: 1 << 8})
	assert.Equal(t, 1, verdictOf(s).Rank)
	s.handle(event{kind: exited, rank: 2, status: 7 << 8})
	assert.Equal(t, 2, verdictOf(s).Rank)
	assert.Equal(t, 7, verdictOf(s).ExitStatus())
	assert.Equal(t, 2, verdictOf(s).Ended)
}

// nobody is the process of a rank that was never started.
type nobody struct{}

func (nobody) PID() int                          { return 1 << 30 }
func (nobody) Signal(syscall.Signal)             {}
func (nobody) Wait() (syscall.WaitStatus, error) { return 0, nil }
func (nobody) Recorded() ([]byte, error)         { return nil, nil }

// newTestSupervisor supervises four ranks without processes.
func newTestSupervisor(t *testing.T) *supervisor {
	j := new(job)
	t.Cleanup(j.open())
	for rank := range 4 {
		near, _ := net.Pipe()
		line := control.NewLine(near)
		line.Close()
		j.ranks = append(j.ranks, &process{rank: rank, line: line, body: nobody{}})
	}
	return newSupervisor(j)
}

// The time for which Ctrl-Z has stopped a job is none of --timeout.
func TestTimeoutOfAJobThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSupervisor(t)
		s.config.Timeout, s.begun = time.Minute, time.Now()
		s.config.Suspend = func() { <-time.After(time.Hour) }
		s.timeout.Reset(s.config.Timeout)
		<-time.After(40 * time.Second)
		s.pause()
		resumed := time.Now()
		<-s.timeout.C
		assert.Equal(t, 20*time.Second, time.Since(resumed))
		s.pause()
		select {
		case <-s.timeout.C:
			t.Error("it is over once")
		case <-time.After(24 * time.Hour):
		}
	})
}
