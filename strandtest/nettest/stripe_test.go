//go:build linux

package nettest_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/testnet"
)

// stream has rank 0 send rank 1 messages of 4 MB, two under way at a time, and
// tell how many Mbit/s that came to.
func stream(ctx context.Context, w *strand.World) error {
	const messages, size, window = 16, 4 << 20, 2
	c := w.Comm()
	var reqs [window]strand.Request
	bufs := [window][]byte{make([]byte, size), make([]byte, size)}
	var start time.Time
	for i := range messages + window {
		k := i % window
		if i >= window {
			if _, err := reqs[k].Wait(ctx); err != nil {
				return err
			}
			if start.IsZero() && i >= messages/4 {
				start = time.Now()
			}
		}
		if i >= messages {
			continue
		}
		var err error
		if c.Rank() == 0 {
			reqs[k], err = c.Isend(bufs[k], 1, 1)
		} else {
			reqs[k], err = c.Irecv(bufs[k], 0, 1)
		}
		if err != nil {
			return err
		}
	}
	counted := messages + window - 1 - messages/4
	fmt.Printf("rate: %.0f Mbit/s\n", float64(counted*size*8)/time.Since(start).Seconds()/1e6)
	for _, r := range w.Rails() {
		fmt.Printf("rail: %s, %d MB out\n", r.Desc, r.Counters.BytesSent>>20)
	}
	return nil
}

// rate runs stream over links of these speeds, in Mbit/s.
func rate(t *testing.T, links ...int) float64 {
	t.Helper()
	n, a, b := hosts(t)
	for i, mbits := range links {
		n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)), testnet.Rate(mbits))
	}
	r := play("stream", []*testnet.Host{a, b}).Start(t)
	require.NoError(t, r.Wait())
	text, _ := strings.CutPrefix(r.Await(1, "rate: ").Text, "rate: ")
	v, err := strconv.ParseFloat(strings.Fields(text)[0], 64)
	require.NoError(t, err)
	for _, line := range r.Lines(0) {
		t.Log(line.Text)
	}
	return v
}

// Long messages use all the links there are. The links are slow enough for the
// machine to be no limit, but it may be busy: one good attempt of several is enough.
func TestStriping(t *testing.T) {
	one := rate(t, 100)
	t.Logf("one link of 100 Mbit/s: %.0f", one)
	for _, c := range []struct {
		links []int
		least float64 // times one link
	}{
		{[]int{100, 100}, 1.6},
		{[]int{100, 20}, 1.05},
		{[]int{100, 100, 100, 100}, 2.8},
	} {
		best := 0.0
		for attempt := 0; attempt < 4 && best < c.least; attempt++ {
			best = max(best, rate(t, c.links...)/one)
			t.Logf("%v: %.2f times one link", c.links, best)
		}
		assert.GreaterOrEqual(t, best, c.least, "%v", c.links)
	}
}
