//go:build linux

package situations_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/reach"
)

// table is what strand reach says on one host about another.
func table(t *testing.T, here, there *testnet.Host) string {
	t.Helper()
	var sides [2]reach.Side
	for i, h := range []*testnet.Host{here, there} {
		require.NoError(t, h.Do(func() (err error) {
			sides[i], err = reach.System()
			return err
		}))
	}
	policy, err := reach.PolicyByName(reach.DefaultPolicy)
	require.NoError(t, err)
	text := ""
	require.NoError(t, here.Do(func() error {
		text = reach.Match(sides[0], sides[1], policy).Table()
		return nil
	}))
	return text
}

// What is joined and what is not has its reason, in words, on both hosts.
func TestReachExplains(t *testing.T) {
	for name, c := range map[string]struct {
		build func(n *testnet.Net, a, b *testnet.Host)
		says  []string
	}{
		"one bridge address on both hosts": {
			func(n *testnet.Net, a, b *testnet.Host) {
				a.Bridge("docker0", "172.17.0.1/16")
				b.Bridge("docker0", "172.17.0.1/16")
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			},
			[]string{"this host holds 172.17.0.1 (docker0) too: it would talk to itself", "direct route"},
		},
		"a network that only one host has": {
			func(n *testnet.Net, a, b *testnet.Host) {
				a.Island("mgmt", "192.168.7.1/24")
				b.Island("mgmt", "192.168.8.1/24")
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			},
			[]string{"the kernel has no route", "direct route"},
		},
		"two addresses on one interface": {
			func(n *testnet.Net, a, b *testnet.Host) {
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("10.2.0.0/24"))
			},
			[]string{"the same two interfaces are joined by"},
		},
		"both families": {
			func(n *testnet.Net, a, b *testnet.Host) {
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
			},
			[]string{"IPv4 and IPv6 do not mix", "the same two interfaces are joined by"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, a, b := nettest.Hosts(t)
			c.build(n, a, b)
			for _, text := range []string{table(t, a, b), table(t, b, a)} {
				for _, says := range c.says {
					assert.Contains(t, text, says)
				}
			}
		})
	}
}
