//go:build linux

package contact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// requireRing runs the ring, two ranks on each host, and returns its output.
func requireRing(t *testing.T, a, b *testnet.Host, env ...string) *nettest.Run {
	t.Helper()
	placement := []*testnet.Host{a, b, a, b}
	r := nettest.Play("ring", placement, env...).Run(t)
	require.NoError(t, r.Wait())
	for rank, host := range placement {
		r.Await(rank, "on "+host.Name()+": ")
		assert.Equal(t, "exited with status 0", r.Status(rank))
	}
	return r
}

// requireRails expects that rank 0, on a, reaches rank 1, on b, by one rail with
// an address of each of these networks, and by no other. A network is what its
// addresses begin with. Spare addresses are tried too where the first contact takes
// long, as it may on a busy machine, but not every time.
func requireRails(t *testing.T, a, b *testnet.Host, networks ...string) {
	t.Helper()
	rails := railsOfRing(t, a, b)
	for range 2 {
		if len(rails) <= len(networks) {
			break
		}
		t.Logf("more than expected: %v", rails)
		rails = railsOfRing(t, a, b)
	}
	require.Len(t, rails, len(networks))
	for _, network := range networks {
		assert.True(t, slices.ContainsFunc(rails, func(rail string) bool { return strings.Contains(rail, network) }), "%s in %v", network, rails)
	}
}

// railsOfRing runs the ring and returns by what rank 0 reached rank 1.
func railsOfRing(t *testing.T, a, b *testnet.Host) (rails []string) {
	t.Helper()
	for _, line := range requireRing(t, a, b).Lines(0) {
		if rail, ok := strings.CutPrefix(line.Text, "rail to 1: "); ok {
			rails = append(rails, rail)
		}
	}
	return rails
}

func TestOneLink(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	requireRails(t, a, b, "10.1.0.")
}

// Ranks of one host share memory. Those of two hosts that one machine plays do not: each has a
// network namespace of its own, in which the other's socket does not answer.
func TestMemoryServesWithinAHost(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	r := nettest.Play("ring", []*testnet.Host{a, a, b}).Run(t)
	require.NoError(t, r.Wait())
	assert.Contains(t, r.Await(0, "rail to 1: ").Text, "rail to 1: @strand-sm-")
	assert.Contains(t, r.Await(0, "rail to 2: ").Text, "10.1.0.")
	assert.Contains(t, r.Await(1, "rail to 2: ").Text, "10.1.0.")
	for rank := range 3 {
		assert.Len(t, slices.DeleteFunc(r.Lines(rank), func(l nettest.Line) bool { return !strings.HasPrefix(l.Text, "rail to ") }), 2, "rank %d", rank)
	}
}

func TestTwoLinks(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	n.Link(a, b, testnet.Subnet("10.2.0.0/24"))
	requireRing(t, a, b)
}

func TestIPv6Only(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("fd00:1::/64"))
	requireRails(t, a, b, "fd00:1::")
}

// Both hosts have a bridge for containers with the same address, which is the
// other's on neither.
func TestSameBridgeOnBothHosts(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	a.Bridge("docker0", "172.17.0.1/16")
	b.Bridge("docker0", "172.17.0.1/16")
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	requireRails(t, a, b, "10.1.0.")
}

func TestTwoAddressesOnOneInterface(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("10.2.0.0/24"))
	requireRails(t, a, b, "10.")
}

func TestMixedFamilies(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	requireRing(t, a, b)
}

// The address that a connection comes from is none that its rank has published.
func TestAddressTranslation(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	r := n.Host("r")
	left := n.Link(a, r, testnet.Subnet("10.1.0.0/24"))
	right := n.Link(r, b, testnet.Subnet("10.2.0.0/24"))
	r.Forward()
	a.Route("10.2.0.0/24", left.B.Addr(0))
	b.Route("10.1.0.0/24", right.A.Addr(0))
	r.NAT("10.1.0.0/24", right.A.Addr(0).String())
	requireRing(t, a, b)
}

func TestRouter(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	r := n.Host("r")
	left := n.Link(a, r, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	right := n.Link(r, b, testnet.Subnet("10.2.0.0/24"), testnet.Subnet("fd00:2::/64"))
	r.Forward()
	for i, dst := range []string{"10.2.0.0/24", "fd00:2::/64"} {
		a.Route(dst, left.B.Addr(i))
	}
	for i, dst := range []string{"10.1.0.0/24", "fd00:1::/64"} {
		b.Route(dst, right.A.Addr(i))
	}
	requireRing(t, a, b)
}

// Who is behind a firewall that drops is named, with address, port and the time
// that was waited.
func TestFirewallThatDrops(t *testing.T) {
	t.Parallel()
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	for _, h := range []*testnet.Host{a, b} {
		h.Firewall(20000, 20010)
	}
	r := nettest.Play("wait", []*testnet.Host{a, b},
		"STRAND_BTL_TCP_PORT_MIN=20000", "STRAND_BTL_TCP_PORT_RANGE=10", "STRAND_BTL_TCP_CONNECT_TIMEOUT=500ms").Run(t)
	err := r.Wait() // whichever rank was first to give up
	require.Error(t, err)
	assert.Regexp(t, `10\.1\.0\.[12]:20000`, err.Error())
	assert.ErrorContains(t, err, "no answer in 500ms")
	assert.ErrorContains(t, err, "firewall")
}
