//go:build linux

package rates_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Variables that tell stream how many messages to send, and how many at a time.
const (
	messagesVariable = "STREAM_MESSAGES"
	windowVariable   = "STREAM_WINDOW"
)

// longMessage is the size of stream's messages in bytes.
const longMessage = 4 << 20

// stream has rank 0 send rank 1 messages of 4 MB, some under way at a time, and
// tell how many Mbit/s the last three quarters of them came to.
func stream(ctx context.Context, w *strand.World) error {
	messages, err := strconv.Atoi(os.Getenv(messagesVariable))
	if err != nil {
		return err
	}
	window, err := strconv.Atoi(os.Getenv(windowVariable))
	if err != nil {
		return err
	}
	c := w.Comm()
	reqs := make([]strand.Request, window)
	bufs := make([][]byte, window)
	for i := range bufs {
		bufs[i] = make([]byte, longMessage)
	}
	var start time.Time
	for i := range messages + window {
		k := i % window
		if i >= window {
			if _, err := reqs[k].Wait(ctx); err != nil {
				return err
			}
			if i-window+1 == messages/4 {
				start = time.Now()
			}
		}
		if i >= messages {
			continue
		}
		if c.Rank() == 0 {
			reqs[k], err = c.Isend(bufs[k], 1, 1)
		} else {
			reqs[k], err = c.Irecv(bufs[k], 0, 1)
		}
		if err != nil {
			return err
		}
	}
	took := time.Since(start)
	fmt.Printf("rate: %.0f Mbit/s\n", megabits((messages-messages/4)*longMessage, took))
	for _, r := range w.Rails() {
		fmt.Printf("rail: %s, %d MB out\n", r.Desc, r.Counters.BytesSent>>20)
	}
	return nil
}

// megabits is a rate in Mbit/s.
func megabits(bytes int, took time.Duration) float64 {
	return float64(bytes) * 8 / took.Seconds() / 1e6
}

// links joins two new hosts by links of these speeds, in Mbit/s.
func links(t *testing.T, speeds ...int) (a, b *testnet.Host) {
	t.Helper()
	n, a, b := nettest.Hosts(t)
	for i, mbits := range speeds {
		n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)), testnet.Rate(mbits))
	}
	return a, b
}

// messagesIn is how many messages take about so many seconds at a speed in Mbit/s.
func messagesIn(seconds, mbits int) int { return max(8, seconds*mbits*1e6/8/longMessage) }

// rate runs stream over links of these speeds, in Mbit/s, for about so many seconds.
func rate(t *testing.T, window, seconds int, speeds ...int) float64 {
	t.Helper()
	sum := 0
	for _, s := range speeds {
		sum += s
	}
	a, b := links(t, speeds...)
	r := nettest.Play("stream", []*testnet.Host{a, b},
		fmt.Sprintf("%s=%d", messagesVariable, messagesIn(seconds, sum)), fmt.Sprintf("%s=%d", windowVariable, window)).Run(t)
	require.NoError(t, r.Wait())
	text, _ := strings.CutPrefix(r.Await(1, "rate: ").Text, "rate: ")
	v, err := strconv.ParseFloat(strings.Fields(text)[0], 64)
	require.NoError(t, err)
	for _, line := range r.Lines(0) {
		t.Log(line.Text)
	}
	return v
}

// rawRate is what one connection, without any of ours, brings over one link.
func rawRate(t *testing.T, seconds, mbits int) float64 {
	t.Helper()
	a, b := links(t, mbits)
	var l net.Listener
	require.NoError(t, b.Do(func() (err error) {
		l, err = net.Listen("tcp", b.NICs()[0].Addr(0).String()+":0")
		return err
	}))
	defer l.Close()
	total := messagesIn(seconds, mbits) * longMessage
	sent := make(chan error, 1)
	go func() {
		sent <- a.Do(func() error {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = io.CopyN(conn, zeros{}, int64(total))
			return err
		})
	}()
	conn, err := l.Accept()
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.CopyN(io.Discard, conn, int64(total/4))
	require.NoError(t, err)
	start := time.Now()
	rest, err := io.Copy(io.Discard, conn)
	require.NoError(t, err)
	took := time.Since(start)
	require.NoError(t, <-sent)
	return megabits(int(rest), took)
}

// zeros reads as zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A stripeCase is links, their speeds in units, and how much more than one link of
// one unit they have to bring.
type stripeCase struct {
	speeds []float64
	least  float64
}

// in returns the speeds in Mbit/s.
func (c stripeCase) in(unit int) (speeds []int) {
	for _, s := range c.speeds {
		speeds = append(speeds, int(s*float64(unit)))
	}
	return speeds
}

var stripeCases = []stripeCase{
	{[]float64{1, 1}, 1.95},
	{[]float64{1, 0.1}, 0.95 * 1.1},
	{[]float64{1, 1, 1, 1}, 3.8},
}

// Long messages use all the links there are, for what each can carry: one message at
// a time as well as several.
func TestStriping(t *testing.T) {
	if need.Soaking() {
		for _, unit := range []int{250, 1000} {
			testStriping(t, unit, 10, 1)
		}
		return
	}
	testStriping(t, 100, 1, 0.85) // costs a busy machine little
}

// testStriping expects a part of what the cases ask for. Of several attempts one good one is
// enough, since the machine may be busy. It may be so for seconds on end: a case that was not
// good is tried again when all others have been.
func testStriping(t *testing.T, unit, seconds int, part float64) {
	const attempts = 12
	raw := min(rawRate(t, seconds, unit), float64(unit)) // more is what had piled up before it was measured
	t.Logf("one connection without Strand over a link of %d Mbit/s: %.0f", unit, raw)
	type try struct {
		stripeCase
		window int
	}
	var tries []try
	for _, window := range []int{1, 2} {
		cases := stripeCases
		if !need.Thorough() { // those with two links, once each
			cases = cases[window-1 : window]
		}
		if need.Soaking() {
			t.Logf("Strand over one link, %d messages at a time: %.0f", window, rate(t, window, seconds, unit)) // shown, and not judged
		}
		for _, c := range cases {
			tries = append(tries, try{c, window})
		}
	}
	best := make([]float64, len(tries))
	for range attempts {
		for i, k := range tries {
			if best[i] >= k.least*part {
				continue
			}
			speeds := k.in(unit)
			v := rate(t, k.window, seconds, speeds...)
			best[i] = max(best[i], v/raw)
			t.Logf("%v, %d messages at a time: %.0f, %.3f times one connection", speeds, k.window, v, v/raw)
		}
	}
	for i, k := range tries {
		assert.GreaterOrEqual(t, best[i], k.least*part, "%v, %d messages at a time", k.in(unit), k.window)
	}
}
