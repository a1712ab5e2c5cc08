//go:build linux

package recovery_test

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
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/testnet"
)

// after waits on a clock of its own: networks do not tell when time has passed.
func after(d time.Duration) { <-time.After(d) }

// flow is traffic of few messages a round until rank 0 is sent SIGUSR1.
func flow(ctx context.Context, w *strand.World) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	return traffic.Rally(ctx, w, 12, 1, func(int) bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	})
}

// startFlow starts the ranks of a flow, that a trial ends by requireFlow.
func startFlow(t *testing.T, tr *trials.Trial, job nettest.Job) *nettest.Run {
	t.Helper()
	job.Timeout = 2 * time.Minute
	r := tr.Start(t, job)
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
	trials.Trials{Short: 1, Each: falls, Beside: 4, Took: "from the loss of a transport to two whole rounds over the other", Run: tryFailover}.Try(t)
}

// falls is how often a trial of failover loses the transport in use.
const falls = 4

func tryFailover(t *testing.T, tr *trials.Trial) {
	n, a, b := nettest.Hosts(t)
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	r := startFlow(t, tr, nettest.Play("flow", []*testnet.Host{a, b}, "STRAND_BTL=tcp,sctp,self", "STRAND_BTL_SCTP_STACK=user"))
	deaf := [][]*testnet.NIC{{link.A}, {link.B}, {link.A, link.B}}[tr.Way(3)]
	for fall := range falls {
		after(time.Duration(tr.Random.IntN(100)) * time.Millisecond)
		lost, other := byte(testnet.TCP), "sctp"
		if fall%2 == 1 {
			lost, other = testnet.UDP, "tcp"
		}
		start := time.Now()
		for _, nic := range deaf {
			nic.Lose(lost, false, testnet.Pattern{}) // instead of what was lost before
		}
		if !traffic.GoesOn(r, other) {
			tr.Hangs(t, fmt.Sprintf("nothing goes on over %s for a minute after fall %d", other, fall))
		}
		tr.Done(time.Since(start))
	}
	for _, nic := range deaf {
		nic.Lose(testnet.UDP, false)
	}
	requireFlow(t, r)
}

// overTwo are the transports over two networks: SCTP with one of them in reserve and with both in use, UDP, and TCP.
var overTwo = []struct {
	name     string
	protocol byte
	env      []string
}{
	{"sctp", testnet.UDP, []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_CMT=false"}},
	{"sctp", testnet.UDP, []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_CMT=true"}},
	{"udp", testnet.UDP, []string{"STRAND_BTL=udp,self"}},
	{"tcp", testnet.TCP, []string{"STRAND_BTL=tcp,self"}},
}

// What goes over two networks goes on over the other one when one dies, and again when that one dies as the other comes back.
func TestTrialsOfPaths(t *testing.T) {
	t.Parallel()
	trials.Trials{Short: 1, Each: falls, Beside: 4, Took: tookPaths, Run: func(t *testing.T, tr *trials.Trial) { tryPaths(t, tr, 1) }}.Try(t)
}

// The same, where a network is dead for up to 13 s before it comes back.
func TestTrialsOfLongOutages(t *testing.T) {
	t.Parallel()
	trials.Trials{Short: 1, Each: falls, Beside: 4, Took: tookPaths, Run: func(t *testing.T, tr *trials.Trial) { tryPaths(t, tr, 8) }}.Try(t)
}

const tookPaths = "from the loss of a network to two whole rounds over the other"

func tryPaths(t *testing.T, tr *trials.Trial, outages int) {
	n, a, b := nettest.Hosts(t)
	var links []*testnet.Link
	for i := range 2 {
		links = append(links, n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1))))
	}
	over := overTwo[tr.Way(len(overTwo))]
	r := startFlow(t, tr, nettest.Play("flow", []*testnet.Host{a, b}, over.env...))
	lose := func(l *testnet.Link, what ...testnet.Pattern) {
		for _, nic := range []*testnet.NIC{l.A, l.B} {
			nic.Lose(over.protocol, false, what...)
		}
	}
	for fall := range falls {
		outage := time.Duration(tr.Random.IntN(100)) * time.Millisecond << tr.Random.IntN(outages)
		after(outage)
		lose(links[(fall+1)%2])
		start := time.Now()
		lose(links[fall%2], testnet.Pattern{})
		if !traffic.GoesOn(r, over.name) {
			tr.Hangs(t, fmt.Sprintf("nothing goes on over the other network for a minute after fall %d", fall))
		}
		took := time.Since(start)
		t.Logf("%s: fall %d, after %v: %v", over.env, fall, outage, took)
		tr.Done(took)
	}
	for _, l := range links {
		lose(l)
	}
	requireFlow(t, r)
}

// Resets at all addresses for 0.3 to 0.5 s end nothing, whether or not a
// launcher tells of ranks.
func TestTrialsOfResets(t *testing.T) {
	t.Parallel()
	trials.Trials{Short: 4, Beside: 3, Took: "from the first reset to two whole rounds after the last", Run: tryResets}.Try(t)
}

func tryResets(t *testing.T, tr *trials.Trial) {
	n, a, b := nettest.Hosts(t)
	var links []*testnet.Link
	for i := range 2 {
		links = append(links, n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1))))
	}
	job, side := nettest.Play("flow", []*testnet.Host{a, b}), tr.Way(4)/2
	if tr.Way(2) == 1 {
		job = job.Untold()
	}
	r := startFlow(t, tr, job)
	start := time.Now()
	for _, on := range []bool{true, false} {
		for _, l := range links {
			[]*testnet.NIC{l.A, l.B}[side].Reset(on) // on both it would keep the resets out
		}
		if on {
			after(time.Duration(300+tr.Random.IntN(200)) * time.Millisecond)
		}
	}
	if !traffic.GoesOn(r, "") {
		tr.Hangs(t, "nothing goes on for a minute after the resets")
	}
	tr.Done(time.Since(start))
	requireFlow(t, r)
}

// A connection that a middlebox has forgotten while it was idle is made anew, in time.
func TestTrialsOfForgottenConnections(t *testing.T) {
	t.Parallel()
	trials.Trials{Short: 1, Beside: 3, Took: "from the forgetting to two whole rounds", Run: tryForgotten}.Try(t)
}

func tryForgotten(t *testing.T, tr *trials.Trial) {
	n, a, b := nettest.Hosts(t)
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	r := startFlow(t, tr, nettest.Play("flow", []*testnet.Host{a, b}, "STRAND_PML_PEER_TIMEOUT=2s"))
	start := time.Now()
	require.Positive(t, link.A.ForgetConnections())
	require.Positive(t, link.B.ForgetConnections())
	if !traffic.GoesOn(r, "") {
		tr.Hangs(t, "nothing goes on for a minute after connections were forgotten")
	}
	tr.Done(time.Since(start))
	requireFlow(t, r)
}
