//go:build linux

package nettest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/need"
	"github.com/strandmp/strand/internal/testnet"
)

// after waits on a clock of its own: networks do not tell when time has passed.
func after(d time.Duration) { <-time.After(d) }

// Where TCP is lost traffic goes on over SCTP, whose frames are shorter, and back: nothing
// is damaged, and it ends.
func TestFailoverToShorterFrames(t *testing.T) {
	t.Parallel()
	for range need.Times(1, 200) {
		n, a, b := hosts(t)
		link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
		r := startTraffic(t, a, b, need.Times(3, 8), "STRAND_BTL=tcp,sctp,self", "STRAND_BTL_SCTP_STACK=user")
		r.Await(0, "round 8")
		for range need.Times(1, 3) {
			link.A.Lose(testnet.TCP, false, testnet.Pattern{})
			goesOn := trafficGoesOn(r)
			link.A.Lose(testnet.TCP, false)
			require.True(t, goesOn, "over SCTP")
		}
		requireTraffic(t, r)
	}
}

// Resets at all addresses for 0.3 to 0.5 s end nothing, whether or not a
// launcher tells of ranks.
func TestResetsOnAllLinksAreForgiven(t *testing.T) {
	t.Parallel()
	for trial := range need.Times(4, 400) {
		n, a, b := hosts(t)
		var links []*testnet.Link
		for i := range 2 {
			links = append(links, n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1))))
		}
		job := play("traffic", []*testnet.Host{a, b}, fmt.Sprintf("%s=%d", secondsVariable, 2))
		if trial%2 == 1 {
			job = untold(job)
		}
		r := job.Start(t)
		r.Await(0, "round 0")
		r.Await(1, "round 0")
		for _, on := range []bool{true, false} {
			for _, l := range links {
				[]*testnet.NIC{l.A, l.B}[trial/2%2].Reset(on) // on both it would keep the resets out
			}
			if on {
				after(300*time.Millisecond + rand.N(200*time.Millisecond))
			}
		}
		requireTraffic(t, r)
	}
}

// A connection that a middlebox has forgotten while it was idle is made anew, in time.
func TestForgottenConnectionIsMadeAnew(t *testing.T) {
	t.Parallel()
	for range need.Times(1, 200) {
		n, a, b := hosts(t)
		link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
		r := play("steady", []*testnet.Host{a, b}, secondsVariable+"=3", "STRAND_PML_PEER_TIMEOUT=2s").Start(t)
		r.Await(0, "steady")
		r.Await(1, "steady")
		require.Positive(t, link.A.ForgetConnections())
		require.Positive(t, link.B.ForgetConnections())
		requireTraffic(t, r)
	}
}
