package job

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/pml"
)

// playLive has two ranks talk and wait until rank 0's input ends.
func playLive() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 1000)
		if w.Rank() == 1 {
			if _, err := c.Recv(ctx, buf, 0, 1); err != nil {
				return err
			}
			fmt.Println("ready")
			_, err := c.Recv(ctx, buf, 0, 2)
			return err
		}
		if err := c.Ssend(ctx, buf, 1, 1); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return c.Send(ctx, buf, 1, 2)
	})
}

func TestLive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c, out := playing(t, "live", 2)
	c.LiveDir, c.Stdin = dir, input
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	out.Await(t, "ready", 1)
	var a live.Answer
	start := time.Now()
	for told := false; !told; { // on a busy machine a rank may not answer in time
		require.Less(t, time.Since(start), time.Minute, "not all have told: %+v", a)
		answers, err := live.Jobs(dir)
		require.NoError(t, err)
		require.Len(t, answers, 1)
		a = answers[0]
		require.Len(t, a.Ranks, 2)
		told = len(a.Ranks[0].Report) > 0 && len(a.Ranks[1].Report) > 0
	}
	assert.Equal(t, 2, a.Size)
	assert.Equal(t, os.Getpid(), a.PID)
	for rank, r := range a.Ranks {
		var report pml.Report
		require.NoError(t, json.Unmarshal(r.Report, &report), "%s", r.Silent)
		require.Len(t, report.Rails, 1)
		rail := report.Rails[0]
		assert.Equal(t, 1-rank, rail.Peer)
		assert.Equal(t, "CONNECTED", rail.State)
		between := "tcp"
		if runtime.GOOS == "linux" {
			between = "sm" // both are on this host
		}
		assert.Equal(t, between, rail.Module)
		assert.EqualValues(t, 1000, rail.Traffic.BytesSent+rail.Traffic.BytesReceived)
	}

	require.NoError(t, syscall.Kill(a.Ranks[1].PID, syscall.SIGSTOP))
	var answers []live.Answer
	for silent := false; !silent; { // it may answer once more before it stops
		answers, err = live.Jobs(dir)
		require.NoError(t, err)
		silent = answers[0].Ranks[1].Silent != "" && len(answers[0].Ranks[0].Report) > 0
	}
	assert.Contains(t, answers[0].Ranks[1].Silent, "does not answer within 1s")
	require.NoError(t, syscall.Kill(a.Ranks[1].PID, syscall.SIGCONT))

	require.NoError(t, end.Close())
	require.NoError(t, <-over, "%s", out)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// playLeaving has rank 1 leave, and rank 0 wait until its input ends.
func playLeaving() {
	playWorld(func(_ context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			return nil
		}
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// Of a rank that has left it is told that it has.
func TestLiveAfterARankHasLeft(t *testing.T) {
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c, out := playing(t, "leaving", 2)
	c.LiveDir, c.Stdin = filepath.Join(t.TempDir(), "jobs"), input
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	for start := time.Now(); ; {
		require.Less(t, time.Since(start), time.Minute, "rank 1 does not leave")
		answers, err := live.Jobs(c.LiveDir)
		require.NoError(t, err)
		if len(answers) == 1 && answers[0].Ranks[1].Ended {
			assert.Equal(t, "has ended, or has left the job", answers[0].Ranks[1].Silent)
			break
		}
	}
	require.NoError(t, end.Close())
	require.NoError(t, <-over, "%s", out)
}

// A job that can not be asked runs all the same.
func TestLiveInAFolderThatIsNotOurs(t *testing.T) {
	c, out := shell("exit 0", 1)
	c.LiveDir, c.Verbose = t.TempDir(), true
	require.NoError(t, os.Chmod(c.LiveDir, 0o755))
	require.NoError(t, Run(context.Background(), c))
	assert.Contains(t, out.String(), "strand info --live will not show this job")
	assert.Contains(t, out.String(), "alone")
}

// scarce is a listener that can accept nobody for a while.
type scarce struct {
	net.Listener
	failures int
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.failures--; s.failures >= 0 {
		return nil, syscall.EMFILE
	}
	return s.Listener.Accept()
}

// A launcher without a descriptor for a connection goes on when it has one again.
func TestLiveWithoutDescriptors(t *testing.T) {
	real, err := net.Listen("unix", filepath.Join(t.TempDir(), "job"))
	require.NoError(t, err)
	defer real.Close()
	conn, err := net.Dial("unix", real.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	var out strings.Builder
	j := &job{config: Config{Verbose: true, Stderr: &out}}
	defer j.open()()
	far, err := j.acceptLive(t.Context(), &scarce{Listener: real, failures: 3})
	require.NoError(t, err)
	require.NoError(t, far.Close())
	j.working.Wait()
	assert.Equal(t, 1, strings.Count(out.String(), "can not ask this job at the moment"))
	assert.Contains(t, out.String(), "ulimit -n")

	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = j.acceptLive(over, &scarce{failures: 1})
	assert.ErrorIs(t, err, syscall.EMFILE)
}
