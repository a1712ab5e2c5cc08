//go:build linux

package nettest_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// after waits on a clock of its own: networks do not tell when time has passed.
func after(d time.Duration) { <-time.After(d) }

// flow is traffic of few messages a round until rank 0 is sent SIGUSR1.
func flow(ctx context.Context, w *strand.World) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	return rally(ctx, w, 12, 1, func(int) bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	})
}

// startFlow starts the ranks of a flow, that a trial ends by requireFlow.
func (tr *trial) startFlow(t *testing.T, job nettest.Job) *nettest.Run {
	t.Helper()
	job.Timeout = 2 * time.Minute
	r := tr.start(t, job)
	r.Await(0, "round 2")
	r.Await(1, "round 2")
	return r
}

// requireFlow ends a flow, and expects that everything arrived.
func requireFlow(t *testing.T, r *nettest.Run) {
	t.Helper()
	r.Signal(0, syscall.SIGUSR1)
	require.NoError(t, r.Wait())
	r.Await(0, "done: ")
	r.Await(1, "done: ")
}

// Where the transport in use is lost traffic goes on over the other one: from TCP to SCTP, whose frames are
// shorter, and from there, when that is lost and TCP has just come back, to TCP. Nothing is damaged, and it ends.
func TestTrialsOfFailover(t *testing.T) {
	t.Parallel()
	trials{short: 1, each: falls, beside: 4, took: "from the loss of a transport to two whole rounds over the other", run: tryFailover}.try(t)
}

// falls is how often a trial of failover loses the transport in use.
const falls = 4

func tryFailover(t *testing.T, tr *trial) {
	n, a, b := hosts(t)
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	r := tr.startFlow(t, play("flow", []*testnet.Host{a, b}, "STRAND_BTL=tcp,sctp,self", "STRAND_BTL_SCTP_STACK=user"))
	deaf := [][]*testnet.NIC{{link.A}, {link.B}, {link.A, link.B}}[tr.way(3)]
	for fall := range falls {
		after(time.Duration(tr.random.IntN(100)) * time.Millisecond)
		lost, other := byte(testnet.TCP), "sctp"
		if fall%2 == 1 {
			lost, other = testnet.UDP, "tcp"
		}
		start := time.Now()
		for _, nic := range deaf {
			nic.Lose(lost, false, testnet.Pattern{}) // instead of what was lost before
		}
		if !trafficGoesOn(r, other) {
			tr.hangs(t, fmt.Sprintf("nothing goes on over %s for a minute after fall %d", other, fall))
		}
		tr.done(time.Since(start))
	}
	for _, nic := range deaf {
		nic.Lose(testnet.UDP, false)
	}
	requireFlow(t, r)
}

// Resets at all addresses for 0.3 to 0.5 s end nothing, whether or not a
// launcher tells of ranks.
func TestTrialsOfResets(t *testing.T) {
	t.Parallel()
	trials{short: 4, beside: 3, took: "from the first reset to two whole rounds after the last", run: tryResets}.try(t)
}

func tryResets(t *testing.T, tr *trial) {
	n, a, b := hosts(t)
	var links []*testnet.Link
	for i := range 2 {
		links = append(links, n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1))))
	}
	job, side := play("flow", []*testnet.Host{a, b}), tr.way(4)/2
	if tr.way(2) == 1 {
		job = untold(job)
	}
	r := tr.startFlow(t, job)
	start := time.Now()
	for _, on := range []bool{true, false} {
		for _, l := range links {
			[]*testnet.NIC{l.A, l.B}[side].Reset(on) // on both it would keep the resets out
		}
		if on {
			after(time.Duration(300+tr.random.IntN(200)) * time.Millisecond)
		}
	}
	if !trafficGoesOn(r, "") {
		tr.hangs(t, "nothing goes on for a minute after the resets")
	}
	tr.done(time.Since(start))
	requireFlow(t, r)
}

// A connection that a middlebox has forgotten while it was idle is made anew, in time.
func TestTrialsOfForgottenConnections(t *testing.T) {
	t.Parallel()
	trials{short: 1, beside: 3, took: "from the forgetting to two whole rounds", run: tryForgotten}.try(t)
}

func tryForgotten(t *testing.T, tr *trial) {
	n, a, b := hosts(t)
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	r := tr.startFlow(t, play("flow", []*testnet.Host{a, b}, "STRAND_PML_PEER_TIMEOUT=2s"))
	start := time.Now()
	require.Positive(t, link.A.ForgetConnections())
	require.Positive(t, link.B.ForgetConnections())
	if !trafficGoesOn(r, "") {
		tr.hangs(t, "nothing goes on for a minute after connections were forgotten")
	}
	tr.done(time.Since(start))
	requireFlow(t, r)
}
