//go:build linux

package tryout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// strandCommand is a name of this test program by which it is the command strand.
func strandCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), commandName)
	require.NoError(t, os.Symlink(fmt.Sprintf("/proc/%d/exe", os.Getpid()), path))
	return path
}

// tryOut is what strand reach --try says on one host about another.
func tryOut(t *testing.T, strand, timeout string, here, there *testnet.Host) string {
	t.Helper()
	args := append([]string{"reach", "--timeout", timeout, "--try"}, there.Prefix()...)
	out, err := here.Command(strand, append(args, strand)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, tried, found := strings.Cut(string(out), "\nTried, ")
	require.True(t, found, "%s", out)
	return tried
}

// What routes can not show is found out by trying, on either host, and told in words.
func TestTryExplains(t *testing.T) {
	t.Parallel()
	strand := strandCommand(t)
	t.Run("where nothing works", func(t *testing.T) {
		t.Parallel()
		explainsThatNothingWorks(t, strand)
	})
	const good = "10.1.0.1 (eth0) and 10.1.0.2 (eth0) (chosen): works both ways"
	const unjoined = "networks of one subnet that are not joined"
	join := func(n *testnet.Net, a, b *testnet.Host) {
		n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Names("eth0", "eth0"))
	}
	for name, c := range map[string]struct {
		build       func(n *testnet.Net, a, b *testnet.Host)
		there, back []string // what is said on a and on b
	}{
		"one bridge address on both hosts": {
			func(n *testnet.Net, a, b *testnet.Host) {
				a.Bridge("docker0", "172.17.0.1/16")
				b.Bridge("docker0", "172.17.0.1/16")
				join(n, a, b)
			},
			[]string{good, "172.17.0.1 (docker0) and 172.17.0.1 (docker0) (not used): does not work", "this host has that address too: it would talk to itself", "All that is chosen works."}, nil,
		},
		unjoined: {
			func(n *testnet.Net, a, b *testnet.Host) {
				a.Island("mgmt", "10.0.0.1/24")
				b.Island("mgmt", "10.0.0.2/24")
				join(n, a, b)
			},
			[]string{good, "10.0.0.1 (mgmt) and 10.0.0.2 (mgmt) (chosen): does not work, though it is chosen", "no host with that address answers on the network", "-p btl_tcp_if_exclude=10.0.0.1"}, nil,
		},
		"a network that loses all": {
			func(n *testnet.Net, a, b *testnet.Host) {
				n.Link(a, b, testnet.Subnet("10.0.0.0/24"), testnet.Names("mgmt", "mgmt")).Loss(1)
				join(n, a, b)
			},
			[]string{good, "10.0.0.1 (mgmt) and 10.0.0.2 (mgmt) (chosen): does not work", "no answer in 4s: the networks are not joined, there is no way back, or a firewall drops"}, nil,
		},
		"other hosts with those addresses": {
			func(n *testnet.Net, a, b *testnet.Host) {
				n.Link(a, n.Host("c"), testnet.Subnet("10.0.0.0/24"), testnet.Names("mgmt", "eth0"))
				n.Link(n.Host("d"), b, testnet.Subnet("10.0.0.0/24"), testnet.Names("eth0", "mgmt"))
				join(n, a, b)
			},
			[]string{good, "10.0.0.1 (mgmt) and 10.0.0.2 (mgmt) (chosen): does not work", "refused: another host has that address here, or a firewall rejects"}, nil,
		},
		"IPv6 only": {
			func(n *testnet.Net, a, b *testnet.Host) { n.Link(a, b, testnet.Subnet("fd00:1::/64")) },
			[]string{"fd00:1::1 (eth0) and fd00:1::2 (eth0) (chosen): works both ways"}, nil,
		},
		"two families, two addresses on one interface": {
			func(n *testnet.Net, a, b *testnet.Host) {
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("10.2.0.0/24"), testnet.Subnet("fd00:1::/64"))
			},
			[]string{good, "10.2.0.1 (eth0) and 10.2.0.2 (eth0) (spare): works both ways", "fd00:1::1 (eth0) and fd00:1::2 (eth0) (spare): works both ways"}, nil,
		},
		"only one of them can connect": {
			func(n *testnet.Net, a, b *testnet.Host) {
				join(n, a, b)
				b.Firewall(1, 65535)
			},
			[]string{"works one way: only the other host can connect, which is enough; it is asked to after a second", "from here: no answer in 4s", "All that is chosen works."},
			[]string{"works one way: only this host can connect, which is enough", "from there: no answer in 4s"},
		},
		"a translator": {
			func(n *testnet.Net, a, b *testnet.Host) {
				r := n.Host("r")
				left := n.Link(a, r, testnet.Subnet("10.1.0.0/24"))
				right := n.Link(r, b, testnet.Subnet("10.2.0.0/24"))
				r.Forward()
				a.Route("10.2.0.0/24", left.B.Addr(0))
				b.Route("10.1.0.0/24", right.A.Addr(0))
				r.NAT("10.1.0.0/24", right.A.Addr(0).String())
			},
			[]string{"10.1.0.1 (eth0) and 10.2.0.2 (eth0) (chosen): works both ways", "arrives as 10.2.0.1: addresses are translated on the way"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they do little but wait
			n, a, b := nettest.Hosts(t)
			c.build(n, a, b)
			timeout := "4s"
			if name == unjoined {
				timeout = "10s" // the kernel takes three to find that nobody has the address
			}
			text := tryOut(t, strand, timeout, a, b)
			for _, says := range c.there {
				assert.Contains(t, text, says)
			}
			if c.back == nil {
				return
			}
			text = tryOut(t, strand, timeout, b, a)
			for _, says := range c.back {
				assert.Contains(t, text, says)
			}
		})
	}
}

// Where nothing works the status says so, and the words too.
func explainsThatNothingWorks(t *testing.T, strand string) {
	t.Helper()
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24")).Loss(1)
	out, err := a.Command(strand, append([]string{"reach", "--timeout", "200ms", "--try"}, append(b.Prefix(), strand)...)...).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "Nothing works: the hosts can not be connected by TCP.")
	assert.Contains(t, string(out), "no pair of addresses that would be used works")
}
