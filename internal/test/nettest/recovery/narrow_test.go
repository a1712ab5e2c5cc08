//go:build linux

package recovery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// The only way between two hosts loses long packets without a word, as one over a tunnel does where a firewall keeps the
// system from hearing of it: what is said arrives all the same, and soon.
func TestOnlyWayThatLosesLongPackets(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(l *testnet.Link){
		"to the one side":   func(l *testnet.Link) { l.A.LoseLonger(1300) },
		"to the other side": func(l *testnet.Link) { l.B.LoseLonger(1300) },
		"to both":           func(l *testnet.Link) { l.A.LoseLonger(1300); l.B.LoseLonger(1300) },
	} {
		for _, when := range []string{"from the start", "later"} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				n, a, b := nettest.Hosts(t)
				l := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(100), testnet.Packets())
				if when == "from the start" {
					spoil(l)
				}
				job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(4))
				job.Timeout = time.Minute
				job.Env = append(job.Env, "STRAND_BTL=tcp,self")
				r := job.Start(t)
				r.Await(0, "steady")
				r.Await(1, "steady")
				spoil(l)
				traffic.Require(t, r)
			})
		}
	}
}

// All ways between two hosts lose long packets, and the message layer gives each up for another one before TCP has tried for long.
func TestAllWaysLoseLongPackets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ links, connections int }{
		"two networks":                      {2, 1},
		"four connections over one of them": {1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			var links []*testnet.Link
			for i := range c.links {
				links = append(links, n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)), testnet.Rate(100), testnet.Packets()))
			}
			job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(4), "STRAND_BTL=tcp,self", fmt.Sprintf("STRAND_BTL_TCP_LINKS=%d", c.connections))
			job.Timeout = time.Minute
			r := job.Start(t)
			r.Await(0, "steady")
			r.Await(1, "steady")
			for _, l := range links {
				l.A.LoseLonger(1300)
				l.B.LoseLonger(1300)
			}
			traffic.Require(t, r)
		})
	}
}

// Transports of packets find the length out by themselves, below what every network should carry too. What sctp had sent in longer packets is sent
// anew, over another association: nobody waits until the peer is asked after.
func TestOnlyWayThatLosesLongPacketsOfUDP(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(l *testnet.Link, bytes int){
		"to the one side": func(l *testnet.Link, bytes int) { l.A.LoseLonger(bytes) },
		"to both":         func(l *testnet.Link, bytes int) { l.A.LoseLonger(bytes); l.B.LoseLonger(bytes) },
	} {
		for _, bytes := range []int{1300, 700} {
			for _, when := range []string{"from the start", "later"} {
				for _, btl := range []string{"sctp", "udp"} {
					t.Run(fmt.Sprintf("%s, more than %d %s, %s", btl, bytes, name, when), func(t *testing.T) {
						t.Parallel()
						n, a, b := nettest.Hosts(t)
						l := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(100), testnet.Packets())
						if when == "from the start" {
							spoil(l, bytes)
						}
						job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(2), "STRAND_BTL="+btl+",self", "STRAND_BTL_SCTP_STACK=user")
						job.Timeout = time.Minute
						r := job.Start(t)
						r.Await(0, "steady")
						r.Await(1, "steady")
						spoil(l, bytes)
						begun := time.Now()
						traffic.Require(t, r)
						require.Less(t, time.Since(begun), 12*time.Second)
					})
				}
			}
		}
	}
}

// What a process says of itself in the handshake may be longer than what a way takes: it has many addresses.
func TestHandshakeIsLongerThanWhatPasses(t *testing.T) {
	t.Parallel()
	n, a, b := nettest.Hosts(t)
	l := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(100), testnet.Packets())
	for i := range 20 {
		l.A.AddAddr(fmt.Sprintf("fd00:%x::1/64", i+1))
		l.B.AddAddr(fmt.Sprintf("fd00:%x::2/64", i+1))
	}
	l.A.LoseLonger(600)
	l.B.LoseLonger(600)
	job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(1), "STRAND_BTL=tcp,udp,sctp,self", "STRAND_BTL_SCTP_STACK=user")
	job.Timeout = time.Minute
	traffic.Require(t, job.Start(t))
}
