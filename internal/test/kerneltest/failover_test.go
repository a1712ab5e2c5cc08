//go:build linux

package kerneltest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

const (
	// streamed is how many messages stream sends, of streamTags tags in turn.
	streamed   = 10_000
	streamTags = 10
	// streamPace is how long it waits after every streamBurst messages.
	streamPace, streamBurst = 2 * time.Millisecond, 4
	streamSize              = 500
)

// stream has rank 0 send numbered messages for some seconds. Rank 1 receives them
// for any tag, so in the order of sending, and tells every thousand how long it had
// to wait for one at most, and how long its process stood still meanwhile.
func stream(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	buf := make([]byte, streamSize)
	if c.Rank() == 0 {
		pace := time.NewTicker(streamPace)
		defer pace.Stop()
		for i := range streamed {
			binary.LittleEndian.PutUint32(buf, uint32(i))
			if err := c.Send(ctx, buf, 1, i%streamTags); err != nil {
				return err
			}
			if i%streamBurst == 0 {
				<-pace.C
			}
		}
		for _, rail := range w.Rails() {
			fmt.Printf(pathsLine+"\n", w.Stats().Replayed, rail.Counters.PathsDown, rail.Counters.PathsUp)
		}
		return c.Barrier(ctx)
	}
	still := new(standstill)
	go still.watch(ctx)
	var gap time.Duration
	last := time.Now()
	for i := range streamed {
		st, err := c.Recv(ctx, buf, 0, strand.AnyTag)
		if err != nil {
			return err
		}
		if n := int(binary.LittleEndian.Uint32(buf)); n != i || st.Tag != i%streamTags || st.Count != streamSize {
			return fmt.Errorf("message %d with tag %d instead of %d", n, st.Tag, i)
		}
		now := time.Now()
		gap, last = max(gap, now.Sub(last)), now
		if (i+1)%1000 == 0 {
			fmt.Printf(gapLine+"\n", i+1, gap.Milliseconds(), still.take().Milliseconds())
			gap = 0
		}
	}
	return c.Barrier(ctx)
}

// pathsLine is what rank 0 tells.
const pathsLine = "%d frames sent again, paths down %d times and up %d times"

// requirePaths expects that the paths' ends and returns were counted, and that the
// message layer had nothing to do with them.
func requirePaths(t *testing.T, r *nettest.Run) {
	var again, down, up int
	line := r.Await(0, "frames sent again").Text
	_, err := fmt.Sscanf(line, pathsLine, &again, &down, &up)
	require.NoError(t, err, line)
	assert.Zero(t, again)
	assert.GreaterOrEqual(t, down, 2, line)
	assert.GreaterOrEqual(t, up, 1, line)
}

// gapLine is what rank 1 tells.
const gapLine = "received %d, gap %d ms, stood still %d ms"

// failoverSettings, and what follows from them for the longest gap: the time in
// which path_max_retrans + 1 retransmissions, each twice as long after the last,
// have gone unanswered, and one heartbeat.
var failoverSettings = []string{
	"STRAND_BTL_SCTP_RTO_INITIAL=100ms", "STRAND_BTL_SCTP_RTO_MIN=100ms", "STRAND_BTL_SCTP_PATH_MAX_RETRANS=2",
	"STRAND_BTL_SCTP_HB_INTERVAL=200ms", "STRAND_BTL_SCTP_PORT_MIN=5001", "STRAND_VERBOSE=1",
}

const longestGap = 100*time.Millisecond*(1<<3-1) + 200*time.Millisecond

// Two paths. The first dies, comes back, and then the second dies: 10,000
// messages come, each once, in order, with no longer gap than SCTP's own rules
// allow for, and no frame has to be sent again by the message layer.
func TestKernelTwoPaths(t *testing.T) {
	for name, cut := range map[string]struct {
		die, heal func(*testing.T, *testnet.Link)
	}{
		"all lost":  {loseAll, loseNone},
		"link down": {func(_ *testing.T, l *testnet.Link) { l.Down() }, func(_ *testing.T, l *testnet.Link) { l.Up() }},
	} {
		t.Run(name, func(t *testing.T) {
			n := testnet.New(t)
			a, b := n.Host("a"), n.Host("b")
			first := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			second := n.Link(a, b, testnet.Subnet("10.2.0.0/24"))
			r := play(t, "stream", []*testnet.Host{a, b}, failoverSettings...).Start(t)
			r.Await(1, "received 1000,")
			cut.die(t, first)
			r.Await(0, "path to 10.1.0.2:5001 is down")
			cut.heal(t, first)
			r.Await(0, "path to 10.1.0.2:5001 is up")
			cut.die(t, second)
			require.NoError(t, r.Wait())
			requirePaths(t, r)
			requireGaps(t, r)
		})
	}
}

// loseAll has both ends lose everything that they send.
func loseAll(t *testing.T, l *testnet.Link) { tc(t, l, "add", "netem", "loss", "100%") }

func loseNone(t *testing.T, l *testnet.Link) { tc(t, l, "del") }

func tc(t *testing.T, l *testnet.Link, verb string, what ...string) {
	for _, nic := range []*testnet.NIC{l.A, l.B} {
		args := append([]string{"qdisc", verb, "dev", nic.Name(), "root"}, what...)
		out, err := nic.Host().Command("tc", args...).CombinedOutput()
		require.NoError(t, err, "tc %v: %s", args, out)
	}
}

// requireGaps expects that nothing had to be waited for longer than the rules of
// SCTP allow for, apart from the time that the machine gave the receiver none.
func requireGaps(t *testing.T, r *nettest.Run) {
	longest := 0
	for _, line := range r.Lines(1) {
		var n, gap, still int
		if _, err := fmt.Sscanf(line.Text, gapLine, &n, &gap, &still); err != nil {
			continue
		}
		longest = max(longest, gap)
		assert.LessOrEqual(t, time.Duration(gap-still)*time.Millisecond, longestGap, line.Text)
	}
	t.Logf("%d messages, none lost or twice; longest gap %d ms, bound %v", streamed, longest, longestGap)
}

// A standstill adds up how long this process got no time while it had something
// to do every few milliseconds.
type standstill struct {
	mu  sync.Mutex
	sum time.Duration
}

func (s *standstill) watch(ctx context.Context) {
	const every, usual = 5 * time.Millisecond, 10 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ctx.Err() == nil; {
		<-tick.C
		now := time.Now()
		if late := now.Sub(last); late > usual {
			s.mu.Lock()
			s.sum += late
			s.mu.Unlock()
		}
		last = now
	}
}

// take returns the sum since it was last taken.
func (s *standstill) take() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.sum
	s.sum = 0
	return sum
}
