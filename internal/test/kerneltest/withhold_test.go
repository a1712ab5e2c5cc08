//go:build linux

package kerneltest_test

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
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
// own, as fast as they are confirmed, until it is sent SIGUSR1. Rank 1 tells, toldEvery, how
// much it has received with each tag.
func withhold(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	var got [withholdTags]atomic.Int64
	var tags sync.WaitGroup
	errs := make([]error, withholdTags)
	if c.Rank() == 1 {
		go tell(ctx, &got)
	}
	enough, cancel := signal.NotifyContext(ctx, syscall.SIGUSR1)
	defer cancel()
	for tag := range withholdTags {
		tags.Go(func() {
			if c.Rank() == 0 {
				errs[tag] = sendConfirmed(ctx, enough, c, tag)
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

func sendConfirmed(ctx, enough context.Context, c *strand.Comm, tag int) error {
	buf := make([]byte, withholdSize)
	for n := 0; ; n++ {
		buf[0] = 1
		if enough.Err() != nil {
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

// toldEvery so many milliseconds.
const toldEvery = 50

func tell(ctx context.Context, got *[withholdTags]atomic.Int64) {
	tick := time.NewTicker(toldEvery * time.Millisecond)
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

// withheldSeconds are those without the packets of one tag, each between two with
// them.
const withheldSeconds = 3

// A packet that is lost twice would be sent again three seconds after it was lost first, since
// the timeout doubles. What follows it would fill the sender's buffer. A second at the rate of
// the link is to be a second, so the timeout does not grow, and the buffer is large.
var withholdSettings = []string{"STRAND_BTL_SCTP_RTO_MAX=1s", "STRAND_BTL_SCTP_OUTSTANDING=4M"}

// While the packets of one tag are withheld for a second, at the rate of the link,
// the other tags keep their throughput. The best of some seconds counts, since
// anything may hold up a machine that is emulated.
func TestKernelWithheldTag(t *testing.T) {
	need.KernelSCTP(t)
	testWithheldTag(t, "kernel", testnet.SCTP, carriers(0))
}

// The same over the stack in user space.
func TestUserWithheldTag(t *testing.T) {
	testWithheldTag(t, "user", testnet.UDP, userCarriers(0))
}

func testWithheldTag(t *testing.T, stack string, protocol byte, withheld []testnet.Pattern) {
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(withholdRate))
	r := playOver(stack, "withhold", []*testnet.Host{a, b}, withholdSettings...).Start(t)
	r.Await(1, "at ")
	pause(time.Second) // to come up to the rate
	best := 0.0
	with := measureSecond(t, r)
	for range withheldSeconds {
		if best >= 0.9 && !need.Thorough() {
			break
		}
		link.B.Lose(protocol, false, withheld...)
		without := measureSecond(t, r)
		lost := b.Lost()
		link.B.Lose(protocol, false)
		after := measureSecond(t, r)
		t.Logf("messages a second, withheld tag and others: %.0f and %.0f before, %.0f and %.0f without %d packets, %.0f and %.0f after",
			with.tag, with.others, without.tag, without.others, lost, after.tag, after.others)
		require.Positive(t, with.others+after.others, "nothing moves, though nothing is withheld")
		if lost > 0 { // else the machine stood still
			best = max(best, without.others/((with.others+after.others)/2))
		}
		with = after
	}
	r.Signal(0, syscall.SIGUSR1)
	require.NoError(t, r.Wait())
	t.Logf("the other tags keep %.2f of their throughput", best)
	assert.GreaterOrEqual(t, best, 0.9)
}

// rates are messages a second.
type rates struct{ tag, others float64 }

// measureSecond lets the job run for a second and says how it fared.
func measureSecond(t *testing.T, r *nettest.Run) rates {
	from := told(t, r)
	pause(time.Second)
	to := told(t, r)
	for deadline := time.Now().Add(time.Minute); to[0]-from[0] < 1000-toldEvery; to = told(t, r) {
		require.True(t, time.Now().Before(deadline), "rank 1 has told nothing for a minute")
		pause(toldEvery * time.Millisecond)
	}
	seconds := float64(to[0]-from[0]) / 1000
	return rates{float64(to[1]-from[1]) / seconds, float64(to[2]-from[2]) / seconds}
}

// told is what rank 1 has told last.
func told(t *testing.T, r *nettest.Run) (at [3]int) {
	lines := r.Lines(1)
	for i := len(lines) - 1; i >= 0; i-- {
		if n, _ := fmt.Sscanf(lines[i].Text, withholdLine, &at[0], &at[1], &at[2]); n == len(at) {
			return at
		}
	}
	require.Fail(t, "rank 1 has told nothing")
	return at
}

// pause lets the job run for a while.
func pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
