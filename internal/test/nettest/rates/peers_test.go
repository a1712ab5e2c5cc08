//go:build linux

package rates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/stats"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Variable that tells peers how many messages a goroutine sends, and how many round trips of 8 bytes
// it measures.
const peersVariable = "PEERS_ROUNDS"

const (
	peersMessage = 1 << 20 // the size of messages to peers in bytes
	tagEcho      = 7
)

// together is what rank 0 finds out: what one goroutine sends to its peer, and what several send to
// theirs at once, in Mbit/s; and round trips of 8 bytes of one goroutine, alone and beside another one
// that sends long messages to another peer, in µs.
type together struct {
	One, All     float64
	Idle, Beside []float64
}

// peers has rank 0 send to each other rank by a goroutine of its own.
func peers(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	var rounds int
	if _, err := fmt.Sscan(os.Getenv(peersVariable), &rounds); err != nil {
		return err
	}
	if c.Rank() != 0 {
		return sink(ctx, c)
	}
	var told together
	var err error
	others := w.Size() - 1
	if _, err = rateTo(ctx, c, 2, others); err != nil { // the connections are made
		return err
	}
	if told.One, err = rateTo(ctx, c, rounds, 1); err != nil {
		return err
	}
	if told.All, err = rateTo(ctx, c, rounds, others); err != nil {
		return err
	}
	if told.Idle, err = echoes(ctx, c, rounds); err != nil {
		return err
	}
	stop, sent := make(chan struct{}), make(chan error, 1)
	go func() { sent <- sendUntil(ctx, c, 2, stop) }()
	told.Beside, err = echoes(ctx, c, rounds)
	close(stop)
	if err := <-sent; err != nil {
		return err
	}
	if err != nil {
		return err
	}
	for peer := 1; peer <= others; peer++ {
		if err := c.Send(ctx, nil, peer, tagEnough); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// sink takes what comes, echoes what is short, and answers what is empty, until it is enough.
func sink(ctx context.Context, c *strand.Comm) error {
	buf := make([]byte, peersMessage)
	for {
		st, err := c.Recv(ctx, buf, 0, strand.AnyTag)
		if err != nil || st.Tag == tagEnough {
			return err
		}
		if st.Count <= 8 {
			if err := c.Send(ctx, buf[:st.Count], 0, tagEcho); err != nil {
				return err
			}
		}
	}
}

// rateTo has as many goroutines send as there are peers, and waits until the peers have all.
func rateTo(ctx context.Context, c *strand.Comm, messages, others int) (float64, error) {
	var wait sync.WaitGroup
	errs := make([]error, others)
	began := time.Now()
	for i := range others {
		wait.Go(func() { errs[i] = sendTo(ctx, c, i+1, messages) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return megabits(others*messages*peersMessage, time.Since(began)), nil
}

// sendTo keeps two long messages under way, and ends with one that is answered.
func sendTo(ctx context.Context, c *strand.Comm, peer, messages int) error {
	buf := make([]byte, peersMessage)
	var before strand.Request
	for range messages {
		r, err := c.Isend(buf, peer, tagBulk)
		if err != nil {
			return err
		}
		if _, err := before.Wait(ctx); err != nil {
			return err
		}
		before = r
	}
	if _, err := before.Wait(ctx); err != nil {
		return err
	}
	return echo(ctx, c, peer, nil)
}

// sendUntil sends long messages until it is told to stop.
func sendUntil(ctx context.Context, c *strand.Comm, peer int, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := sendTo(ctx, c, peer, 4); err != nil {
			return err
		}
	}
}

func echo(ctx context.Context, c *strand.Comm, peer int, buf []byte) error {
	if err := c.Send(ctx, buf, peer, tagQuestion); err != nil {
		return err
	}
	_, err := c.Recv(ctx, buf, peer, tagEcho)
	return err
}

func echoes(ctx context.Context, c *strand.Comm, rounds int) (all []float64, err error) {
	buf := make([]byte, 8)
	for range 20 * rounds {
		began := time.Now()
		if err := echo(ctx, c, 1, buf); err != nil {
			return nil, err
		}
		all = append(all, float64(time.Since(began))/float64(time.Microsecond))
	}
	return all, nil
}

// playPeers runs peers over one link of a rate, in Mbit/s, to each of four hosts.
func playPeers(t *testing.T, mbits, rounds int) (told together) {
	t.Helper()
	n := testnet.New(t)
	hosts := []*testnet.Host{n.Host("hub")}
	for i := range 4 {
		h := n.Host(fmt.Sprintf("peer%d", i+1))
		n.Link(hosts[0], h, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)), testnet.Rate(mbits))
		hosts = append(hosts, h)
	}
	r := nettest.Play("peers", hosts, "STRAND_BTL=tcp,self", fmt.Sprintf("%s=%d", peersVariable, rounds)).Run(t)
	require.NoError(t, r.Wait())
	text := ""
	for _, line := range r.Lines(0) {
		if strings.HasPrefix(line.Text, "{") {
			text = line.Text
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &told), "%s", r)
	return told
}

// Four goroutines with a peer each, over a link each, carry four times as much as one. In the short
// form the links are slow, so that they are the limit and not a busy machine, and one good attempt is
// enough: two that wait for each other carry as much as one. What 8-byte round trips of a goroutine
// take beside the long messages of another one is shown only: it may have to be woken by that one.
func TestGoroutinesWithAPeerEach(t *testing.T) {
	mbits, attempts, rounds, times := 40, 4, 2, 3.0
	if need.Soaking() {
		mbits, attempts, rounds, times = 200, 10, 50, 3.5
	}
	var shares []float64
	for range attempts {
		told := playPeers(t, mbits, rounds)
		shares = append(shares, told.All/told.One)
		t.Logf("one %.0f Mbit/s, four %.0f: %.2f times; 8 B there and back: alone p50 %.0f µs, p99 %.0f; beside bulk p50 %.0f, p99 %.0f; two copies of 64 KB %.0f",
			told.One, told.All, told.All/told.One, stats.Median(told.Idle), p99(told.Idle), stats.Median(told.Beside), p99(told.Beside), twoCopies())
		if !need.Soaking() && told.All >= times*told.One {
			return
		}
	}
	assert.GreaterOrEqual(t, stats.Median(shares), times)
}

// twoCopies is how many µs two copies of 64 KB take, in memory that is in no cache.
func twoCopies() float64 {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	copy(to, from)
	began := time.Now()
	copy(to, from)
	return 2 * float64(time.Since(began)) / float64(time.Microsecond) / 1024
}
