//go:build linux

package nettest_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// startTraffic starts two ranks, one on each host, that send each other messages
// for some seconds.
func startTraffic(t *testing.T, a, b *testnet.Host, seconds int, env ...string) *nettest.Run {
	t.Helper()
	env = append(env, fmt.Sprintf("%s=%d", secondsVariable, seconds))
	r := play("traffic", []*testnet.Host{a, b}, env...).Start(t)
	r.Await(0, "round 0")
	r.Await(1, "round 0")
	return r
}

// untilItIsEnough is how long traffic goes on that the test ends: far longer than it takes.
const untilItIsEnough = 120

// endTraffic has traffic end now, or in the long form when its time is over.
func endTraffic(r *nettest.Run) {
	if !need.Soaking() {
		r.Signal(0, syscall.SIGUSR1)
	}
}

// requireTraffic expects that everything arrived.
func requireTraffic(t *testing.T, r *nettest.Run) {
	t.Helper()
	require.NoError(t, r.Wait())
	t.Log(r.Await(0, "done: ").Text)
	t.Log(r.Await(1, "done: ").Text)
}

// Every connection is reset again and again, and nothing is lost, doubled or
// reordered.
func TestConnectionsAreReset(t *testing.T) {
	t.Parallel()
	for _, links := range []int{1, 2} {
		t.Run(fmt.Sprint(links, " links"), func(t *testing.T) {
			t.Parallel()
			n, a, b := hosts(t)
			for i := range links {
				n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)))
			}
			r := startTraffic(t, a, b, need.Times(untilItIsEnough, 60))
			ticker := time.NewTicker(100 * time.Millisecond)
			defer ticker.Stop()
			resets := 0
			for range need.Times(30, 600) {
				<-ticker.C
				resets += a.ResetConnections()
			}
			endTraffic(r)
			requireTraffic(t, r)
			assert.Positive(t, resets)
		})
	}
}

// One of two networks is cut off without a word to the hosts, and comes back:
// nothing is lost, and the traffic goes on meanwhile.
func TestLinkIsCutAndComesBack(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		cut, mend func(first, second *testnet.Link)
	}{
		"the first network's frames are lost": {func(first, _ *testnet.Link) { first.A.Loss(1) }, func(first, _ *testnet.Link) { first.A.Loss(0) }},
		"the second link is down":             {func(_, second *testnet.Link) { second.Down() }, func(_, second *testnet.Link) { second.Up() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := hosts(t)
			first := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			second := n.Link(a, b, testnet.Subnet("10.2.0.0/24"))
			r := startTraffic(t, a, b, need.Times(untilItIsEnough, 60))
			r.Await(0, "round 8")
			way.cut(first, second)
			goesOn := trafficGoesOn(r, "")
			way.mend(first, second)
			require.True(t, goesOn, "over the other network")
			require.True(t, railsAreUp(r, "10.1.", "10.2."), "both networks lead to the peer again")
			require.True(t, trafficGoesOn(r, ""), "with both networks")
			endTraffic(r)
			requireTraffic(t, r)
		})
	}
}

// trafficGoesOn waits for rounds of the traffic, as rank 0 tells of them, that began
// after the call and went by a network, which is what its addresses begin with; for any
// network, "", the end will do, for which both ranks need each other too.
func trafficGoesOn(r *nettest.Run, network string) bool {
	return tellsLater(r, "round ", func(round string) bool { return strings.Contains(round, network) }, network == "")
}

// railsAreUp waits until rank 0 of the traffic tells, of a time after the call, that a rail of each
// network is up.
func railsAreUp(r *nettest.Run, networks ...string) bool {
	return tellsLater(r, "up: ", func(rails string) bool {
		return !slices.ContainsFunc(networks, func(network string) bool { return !strings.Contains(rails, network) })
	}, false)
}

// tellsLater waits for a line of rank 0's about a round that began after the call, or for the
// end of the traffic where that will do. A line may have been on its way already, and the round of the next under way.
func tellsLater(r *nettest.Run, prefix string, wanted func(line string) bool, endWillDo bool) bool {
	told := func() (lines []string, over bool) {
		for _, line := range r.Lines(0) {
			if strings.HasPrefix(line.Text, prefix) {
				lines = append(lines, line.Text)
			}
			over = over || strings.HasPrefix(line.Text, "done: ")
		}
		return lines, over
	}
	before, _ := told()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		now, over := told()
		if slices.ContainsFunc(now[min(len(now), len(before)+2):], wanted) || over && endWillDo {
			return true
		}
	}
	return false
}

// Who waits for a rank that is stopped, or cut off, learns that it gives no sign of
// life.
func TestRankFallsSilent(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*nettest.Run, *testnet.Link){
		"stopped": func(r *nettest.Run, _ *testnet.Link) { r.Signal(1, syscall.SIGSTOP) },
		// Nothing reaches a: rank 1, which hears all, does not end the job before rank 0.
		"cut off": func(_ *nettest.Run, link *testnet.Link) { link.A.Loss(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := hosts(t)
			link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			r := play("wait", []*testnet.Host{a, b}, "STRAND_PML_PEER_TIMEOUT=2s").Start(t)
			r.Await(0, "waiting")
			r.Await(1, "waiting")
			silence(r, link)
			require.Contains(t, r.Await(0, "waited: ").Text, "rank 1 on b has failed: no sign of life for 2s")
			link.A.Loss(0)
			require.Error(t, r.Wait())
		})
	}
}
