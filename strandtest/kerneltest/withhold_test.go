//go:build linux

package kerneltest_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/testnet"
	"github.com/strandmp/strand/strandtest/nettest"
)

const (
	// withholdTags is how many tags send all the time; the first is withheld.
	withholdTags = 10
	// withholdSize of a message, so that each has a packet of its own.
	withholdSize = 1200
	// withholdWindow is how many messages of a tag its receiver has not confirmed.
	withholdWindow = 8
	// withholdRate is the link's, in Mbit/s.
	withholdRate = 4
	// confirmTag is that of a tag's confirmations.
	confirmTag = 100
	// confirmed are as many messages.
	confirmed = withholdWindow / 2
)

// withhold has rank 0 send messages of several tags, each from a goroutine of its
// own, as fast as they are confirmed. Rank 1 tells every tenth of a second how much
// it has received with each tag.
func withhold(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	var got [withholdTags]atomic.Int64
	var tags sync.WaitGroup
	errs := make([]error, withholdTags)
	if c.Rank() == 1 {
		go tell(ctx, &got)
	}
	for tag := range withholdTags {
		tags.Go(func() {
			if c.Rank() == 0 {
				errs[tag] = sendConfirmed(ctx, c, tag)
			} else {
				errs[tag] = confirm(ctx, c, tag, &got[tag])
			}
		})
	}
	tags.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// withholdTime is how long the tags send.
const withholdTime = 6 * time.Second

func sendConfirmed(ctx context.Context, c *strand.Comm, tag int) error {
	buf := make([]byte, withholdSize)
	for start, n := time.Now(), 0; ; n++ {
		buf[0] = 1
		if time.Since(start) > withholdTime {
			buf[0] = 0
		}
		if err := c.Send(ctx, buf, 1, tag); err != nil {
			return err
		}
		if buf[0] == 0 {
			_, err := c.Recv(ctx, nil, 1, confirmTag+withholdTags+tag)
			return err
		}
		if n%confirmed == confirmed-1 && n > withholdWindow {
			if _, err := c.Recv(ctx, nil, 1, confirmTag+tag); err != nil {
				return err
			}
		}
	}
}

func confirm(ctx context.Context, c *strand.Comm, tag int, got *atomic.Int64) error {
	buf := make([]byte, withholdSize)
	for n := 0; ; n++ {
		if _, err := c.Recv(ctx, buf, 0, tag); err != nil {
			return err
		}
		if buf[0] == 0 {
			return c.Send(ctx, nil, 0, confirmTag+withholdTags+tag)
		}
		got.Add(1)
		if n%confirmed == confirmed-1 && n > withholdWindow {
			if err := c.Send(ctx, nil, 0, confirmTag+tag); err != nil {
				return err
			}
		}
	}
}

// withholdLine is what rank 1 tells: milliseconds since it began, and how many
// messages it has received with the first tag and with all others.
const withholdLine = "at %d first %d others %d"

func tell(ctx context.Context, got *[withholdTags]atomic.Int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ctx.Err() == nil; {
		<-tick.C
		others := int64(0)
		for i := range got[1:] {
			others += got[1+i].Load()
		}
		fmt.Printf(withholdLine+"\n", time.Since(start).Milliseconds(), got[0].Load(), others)
	}
}

// A second without the packets of one tag, between two with them, at the rate of
// the link: the other tags keep theirs.
func TestKernelWithheldTag(t *testing.T) {
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(withholdRate))
	r := play(t, "withhold", []*testnet.Host{a, b}).Start(t)
	seen := func() [3]int { // the last line's
		lines := r.Lines(1)
		for i := len(lines) - 1; ; i-- {
			var at [3]int
			if k, _ := fmt.Sscanf(lines[i].Text, withholdLine, &at[0], &at[1], &at[2]); k == 3 {
				return at
			}
		}
	}
	r.Await(1, "at ")
	pause(r, time.Second) // to come up to the rate
	marks := [][3]int{seen()}
	for _, withheld := range []bool{false, true, false} {
		if withheld {
			link.B.Lose(testnet.SCTP, false, carriers(0)...)
		}
		pause(r, time.Second)
		marks = append(marks, seen())
		if withheld {
			t.Logf("%d packets lost", b.Lost())
			link.B.Lose(testnet.SCTP, false)
		}
	}
	require.NoError(t, r.Wait())
	rate := func(i, of int) float64 {
		return float64(marks[i+1][of]-marks[i][of]) / float64(marks[i+1][0]-marks[i][0]) * 1000
	}
	t.Logf("messages a second, first tag and others: before %.0f and %.0f, withheld %.0f and %.0f, after %.0f and %.0f",
		rate(0, 1), rate(0, 2), rate(1, 1), rate(1, 2), rate(2, 1), rate(2, 2))
	assert.Less(t, rate(1, 1), rate(0, 1)/2, "the tag is withheld")
	ratio := rate(1, 2) / rate(0, 2)
	t.Logf("the other tags keep %.2f of their throughput", ratio)
	assert.GreaterOrEqual(t, ratio, 0.9)
}

// pause lets the job run for a while.
func pause(r *nettest.Run, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
