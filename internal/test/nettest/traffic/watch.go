//go:build linux

package traffic

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Start starts two ranks, one on each host, that send each other messages
// for some seconds.
func Start(t *testing.T, a, b *testnet.Host, seconds int, env ...string) *nettest.Run {
	t.Helper()
	env = append(env, For(seconds))
	r := nettest.Play("traffic", []*testnet.Host{a, b}, env...).Start(t)
	r.Await(0, "round 0")
	r.Await(1, "round 0")
	return r
}

// UntilItIsEnough is how many seconds traffic may go on that the test ends itself: far more
// than it takes.
const UntilItIsEnough = 120

// End has traffic end now, or in the long form when its time is over.
func End(r *nettest.Run) {
	if !need.Soaking() {
		r.Signal(0, syscall.SIGUSR1)
	}
}

// Require expects that everything arrived.
func Require(t *testing.T, r *nettest.Run) {
	t.Helper()
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Log(r.Await(0, "done: ").Text)
	t.Log(r.Await(1, "done: ").Text)
}

// GoesOn waits until rank 0 tells of rounds of the traffic that began after the call and went
// by a network, which is named by what its addresses begin with. For any network, "", the end
// of the traffic will do as well: both ranks need each other for that too.
func GoesOn(r *nettest.Run, network string) bool {
	return tellsLater(r, "round ", func(round string) bool { return strings.Contains(round, network) }, network == "")
}

// RailsAreUp waits until rank 0 of the traffic tells that, at a time after the call, a rail of each
// network is up.
func RailsAreUp(r *nettest.Run, networks ...string) bool {
	return tellsLater(r, "up: ", func(rails string) bool {
		return !slices.ContainsFunc(networks, func(network string) bool { return !strings.Contains(rails, network) })
	}, false)
}

// tellsLater waits for a line of rank 0's about a round that began after the call or, if endWillDo, for the end of
// the traffic. It passes over two lines: one may have been on its way already, and the round of the next under way.
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
