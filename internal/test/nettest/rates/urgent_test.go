//go:build linux

package rates_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/stats"
	launcher "github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// urgencies is what rank 0 finds out: how long urgent messages and their answers take, in
// milliseconds, while nothing else is under way and beside long messages to the same process; and
// how many had come back when the first of the long messages was received.
type urgencies struct {
	Idle, Beside []float64
	Overtook     int
}

// Variables that tell urgent how many questions to ask, idle and beside the long messages, and how
// many of these are under way at a time. If it is one, there is but one.
const (
	roundsVariable = "URGENT_ROUNDS"
	longVariable   = "URGENT_LONG"
)

// bulk is the length of the long messages.
const bulk = 16 << 20

const (
	tagQuestion = iota
	tagBulk
	tagReceived
	tagEnough
)

// urgent has rank 0 ask rank 1 in an urgent communicator while it sends it long messages in another.
func urgent(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	quick, err := c.DupWith(ctx, strand.Urgent)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		return ask(ctx, c, quick)
	}
	answered := make(chan error, 1)
	go func() { answered <- answer(ctx, quick) }()
	return errors.Join(receiveBulk(ctx, c), <-answered)
}

// answer sends questions back until an empty one comes.
func answer(ctx context.Context, quick *strand.Comm) error {
	buf := make([]byte, 8)
	for {
		st, err := quick.Recv(ctx, buf, 0, tagQuestion)
		if err != nil || st.Count == 0 {
			return err
		}
		if err := quick.Send(ctx, buf, 0, tagQuestion); err != nil {
			return err
		}
	}
}

// receiveBulk takes long messages until one is empty. It tells when it has the first.
func receiveBulk(ctx context.Context, c *strand.Comm) error {
	buf := make([]byte, bulk)
	for n := 0; ; n++ {
		st, err := c.Recv(ctx, buf, 0, tagBulk)
		if err != nil || st.Count == 0 {
			return err
		}
		if n == 0 {
			if err := c.Send(ctx, nil, 0, tagReceived); err != nil {
				return err
			}
		}
	}
}

func ask(ctx context.Context, c, quick *strand.Comm) error {
	var rounds, long int
	if _, err := fmt.Sscan(os.Getenv(roundsVariable)+" "+os.Getenv(longVariable), &rounds, &long); err != nil {
		return err
	}
	var told urgencies
	buf := make([]byte, 8)
	question := func() (float64, error) {
		began := time.Now()
		if err := quick.Send(ctx, buf, 1, tagQuestion); err != nil {
			return 0, err
		}
		_, err := quick.Recv(ctx, buf, 1, tagQuestion)
		return float64(time.Since(began)) / float64(time.Millisecond), err
	}
	const warm = 4 // the connection is made meanwhile
	for i := range rounds + warm {
		took, err := question()
		if err != nil {
			return err
		}
		if i >= warm {
			told.Idle = append(told.Idle, took)
		}
	}
	var enough sync.WaitGroup
	defer enough.Wait()
	stop, sent := make(chan struct{}), make(chan error, 1)
	enough.Go(func() { sent <- sendBulk(ctx, c, long, stop) })
	received, err := c.Irecv(nil, 1, tagReceived)
	if err != nil {
		return err
	}
	first := true
	for len(told.Beside) < rounds || first {
		took, err := question()
		if err != nil {
			return err
		}
		told.Beside = append(told.Beside, took)
		if first {
			_, done, err := received.Test()
			if err != nil {
				return err
			}
			if first = !done; first {
				told.Overtook++
			}
		}
	}
	close(stop)
	if err := errors.Join(<-sent, quick.Send(ctx, nil, 1, tagQuestion)); err != nil {
		return err
	}
	for _, r := range c.World().Rails() {
		fmt.Printf("rail: %s, %d messages out\n", r.Desc, r.Traffic.Sent)
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// sendBulk keeps so many long messages under way, or sends one, and ends with an empty one.
func sendBulk(ctx context.Context, c *strand.Comm, n int, stop <-chan struct{}) error {
	var under []strand.Request
	buf := make([]byte, bulk)
	for {
		select {
		case <-stop:
			err := strand.WaitAll(ctx, under, nil)
			return errors.Join(err, c.Send(ctx, nil, 1, tagBulk))
		default:
		}
		r, err := c.Isend(buf, 1, tagBulk)
		if err != nil {
			return err
		}
		if under = append(under, r); n == 1 {
			<-stop
		} else if len(under) == n {
			if _, err := under[0].Wait(ctx); err != nil {
				return err
			}
			under = under[1:]
		}
	}
}

// playUrgent runs urgent over a link of a rate and a delay, whose queue holds the product of the rate and
// a round trip.
func playUrgent(t *testing.T, mbits int, delay time.Duration, rounds, long int, flags ...string) (told urgencies) {
	t.Helper()
	testnet.New(t) // or skip
	rate := emulate.Rate(mbits) * 1_000_000
	queue := int(float64(rate) / 8 * (2 * delay).Seconds())
	n, err := network.New(network.Config{Hosts: 2, Link: emulate.Link{
		Path: emulate.Path{Delay: delay}, NIC: emulate.NIC{Rate: rate, Queue: emulate.Queue{Bytes: queue}},
	}})
	require.NoError(t, err)
	defer func() {
		_, err := n.Close()
		require.NoError(t, err)
	}()
	job := nettest.Play("urgent", nil, append(flags, fmt.Sprintf("%s=%d", roundsVariable, rounds), fmt.Sprintf("%s=%d", longVariable, long))...)
	var out, problems bytes.Buffer
	err = launcher.Run(t.Context(), launcher.Config{
		Ranks: 2, Program: job.Program, Args: job.Args, Environ: job.Env, Stdout: &out, Stderr: &problems, Timeout: nettest.DefaultTimeout,
		Prefix: func(rank int) []string { return n.Host(rank).Prefix() },
	})
	require.NoError(t, err, "%s%s", &out, &problems)
	at := strings.LastIndex(out.String(), "{")
	require.GreaterOrEqual(t, at, 0, "%s", &out)
	require.NoError(t, json.Unmarshal(out.Bytes()[at:], &told), "%s", &out)
	t.Logf("%s%s", out.String()[:at], &problems)
	return told
}

// p99 is the time that one in a hundred exceeds.
func p99(values []float64) float64 {
	return stats.Quantile(slices.Sorted(slices.Values(values)), 0.99)
}

// An urgent message overtakes 16 MB to the same process, over TCP and over SCTP. What 99 of 100
// take, with their answers, is bounded: beside long messages the queue of the link is full, which
// takes as long as a round trip.
func TestUrgentMessagesBesideLongOnes(t *testing.T) {
	rounds, long, mbits, delay := 5, 1, 100, 2*time.Millisecond
	if need.Soaking() {
		rounds, long, mbits, delay = 500, 2, 50, 20*time.Millisecond
	}
	frame := float64(64<<10) * 8 / float64(mbits) / 1000 // milliseconds that 64 KB take
	for _, c := range []struct {
		name  string
		flags []string
		more  float64
	}{
		{"tcp", []string{"STRAND_BTL=tcp,self"}, 0},
		// One association's congestion window and queue: what may be outstanding waits before it.
		{"sctp", []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_OUTSTANDING=256K"}, 4 * frame},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !need.Soaking() {
				t.Parallel() // how fast it is is not looked at
			}
			told := playUrgent(t, mbits, delay, rounds, long, c.flags...)
			idle, beside := p99(told.Idle), p99(told.Beside)
			t.Logf("%s, %d Mbit/s, %v: idle p50 %.1f ms, p99 %.1f; beside bulk p50 %.1f, p99 %.1f; %d before the first 16 MB", c.name, mbits, delay,
				stats.Median(told.Idle), idle, stats.Median(told.Beside), beside, told.Overtook)
			assert.GreaterOrEqual(t, told.Overtook, 5, "16 MB take %.0f ms", float64(bulk)*8/float64(mbits)/1000)
			if need.Soaking() {
				assert.LessOrEqual(t, beside, 2*idle+frame+c.more)
			}
		})
	}
}
