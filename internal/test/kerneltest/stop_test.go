//go:build linux

package kerneltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Tags of stop.
const (
	readyTag = iota
	longTag
	runTag
	runDoneTag
)

const (
	// stopRun messages of stopSize bytes are what is timed.
	stopRun, stopSize = 40, 60_000
	// stopRounds of a run while all go on and one while the others are stopped.
	stopRounds = 5
)

// stopLong is what each of those that are stopped is being sent then: more than its
// system and ours have room for, which is much less where anybody's buffers are.
func stopLong() int {
	if isAnybody() {
		return 1 << 20
	}
	return 4 << 20
}

// stop has rank 0 send messages to rank 1, in turn while all ranks go on and while
// all but these two are stopped by a signal in the middle of a long message. They
// are let go after each run, and get all of it.
func stop(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	switch c.Rank() {
	case 0:
		return timeRuns(ctx, w)
	case 1:
		return beHealthy(ctx, c)
	}
	if err := c.Send(ctx, fmt.Append(nil, os.Getpid()), 0, readyTag); err != nil {
		return err
	}
	buf := make([]byte, stopLong())
	for {
		if st, err := c.Recv(ctx, buf, 0, longTag); err != nil || st.Count == 0 {
			return err // or it is over
		}
	}
}

func beHealthy(ctx context.Context, c *strand.Comm) error {
	buf := make([]byte, stopSize)
	for range 2 * stopRounds {
		for range stopRun {
			if _, err := c.Recv(ctx, buf, 0, runTag); err != nil {
				return err
			}
		}
		if err := c.Send(ctx, nil, 0, runDoneTag); err != nil {
			return err
		}
	}
	return nil
}

// stopLine is what rank 0 tells of each round.
const stopLine = "all going on %d us, others stopped %d us"

func timeRuns(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	pids, err := awaitReady(ctx, c)
	if err != nil {
		return err
	}
	for range stopRounds {
		free, err := timeRun(ctx, c)
		if err != nil {
			return err
		}
		reqs, err := stopAll(ctx, w, pids)
		if err != nil {
			return err
		}
		stopped, err := timeRun(ctx, c)
		for _, pid := range pids {
			err = errors.Join(err, syscall.Kill(pid, syscall.SIGCONT))
		}
		if err == nil {
			err = strand.WaitAll(ctx, reqs, nil)
		}
		if err != nil {
			return err
		}
		fmt.Printf(stopLine+"\n", free.Microseconds(), stopped.Microseconds())
	}
	for peer := range pids {
		if err := c.Send(ctx, nil, 2+peer, longTag); err != nil {
			return err
		}
	}
	return nil
}

// awaitReady returns the processes of those that are to be stopped.
func awaitReady(ctx context.Context, c *strand.Comm) (pids []int, err error) {
	for peer := 2; peer < c.Size(); peer++ {
		buf, pid := make([]byte, 20), 0
		st, err := c.Recv(ctx, buf, peer, readyTag)
		if err == nil {
			_, err = fmt.Sscan(string(buf[:st.Count]), &pid)
		}
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// stopAll stops each of the processes while it is being sent a long message, and
// waits until no more goes out to any of them.
func stopAll(ctx context.Context, w *strand.World, pids []int) (reqs []strand.Request, err error) {
	for i, pid := range pids {
		req, err := stopOne(ctx, w, 2+i, pid)
		if err != nil {
			return nil, err
		}
		reqs = append(reqs, req)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	const quiet = 100 // ticks
	for last, same := sentTo(w), 0; same < quiet && ctx.Err() == nil; <-tick.C {
		now := sentTo(w)
		if same++; !slices.Equal(now, last) {
			last, same = now, 0
		}
	}
	return reqs, nil
}

// stopOne sends long messages to a rank until it is stopped in the middle of one,
// which it returns.
func stopOne(ctx context.Context, w *strand.World, peer, pid int) (strand.Request, error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for buf := make([]byte, stopLong()); ; {
		before := sentTo(w)[peer]
		req, err := w.Comm().Isend(buf, peer, longTag)
		if err != nil {
			return req, err
		}
		for sentTo(w)[peer] < before+2*stopSize && ctx.Err() == nil {
			<-tick.C
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return req, err
		}
		if sentTo(w)[peer] < before+uint64(len(buf)/2) {
			return req, nil
		}
		// It was too late: most of it may be in the peer's system already.
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return req, err
		}
		if _, err := req.Wait(ctx); err != nil {
			return req, err
		}
	}
}

// sentTo is how many bytes the transport has taken for each rank.
func sentTo(w *strand.World) []uint64 {
	sent := make([]uint64, w.Size())
	for _, rail := range w.Rails() {
		sent[rail.Peer] += rail.Counters.BytesSent
	}
	return sent
}

// timeRun sends the healthy rank messages and returns how long they took.
func timeRun(ctx context.Context, c *strand.Comm) (time.Duration, error) {
	buf := make([]byte, stopSize)
	start := time.Now()
	for range stopRun {
		if err := c.Send(ctx, buf, 1, runTag); err != nil {
			return 0, err
		}
	}
	_, err := c.Recv(ctx, nil, 1, runDoneTag)
	return time.Since(start), err
}

// Ranks that are stopped do not slow messages to another one, with the buffers that
// the superuser gets.
func TestKernelStoppedRanks(t *testing.T) {
	// With more for receiving than that, their systems would take nearly all of it.
	testStoppedRanks(t, "STRAND_BTL_SCTP_RCVBUF=1M")
}

// Nor do they with the buffers that Linux's defaults allow anybody.
func TestKernelStoppedRanksOfAnybody(t *testing.T) {
	testStoppedRanks(t, anybodyVariable+"=1")
}

func testStoppedRanks(t *testing.T, env string) {
	const stopped = 8
	host := testnet.New(t).Host("a")
	placement := slices.Repeat([]*testnet.Host{host}, 2+stopped)
	r := play(t, "stop", placement, env, "STRAND_PML_PEER_TIMEOUT=10m").Run(t)
	require.NoError(t, r.Wait())
	var ratios []float64
	for _, line := range r.Lines(0) {
		var free, held int
		if _, err := fmt.Sscanf(line.Text, stopLine, &free, &held); err == nil {
			t.Log(line.Text)
			ratios = append(ratios, float64(held)/float64(free))
		}
	}
	require.Len(t, ratios, stopRounds)
	slices.Sort(ratios)
	t.Logf("%d ranks stopped: messages to another one took %.2f times as long (%.2f)", stopped, ratios[stopRounds/2], ratios)
	assert.Less(t, ratios[stopRounds/2], 2.0)
}
