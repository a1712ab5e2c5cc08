//go:build linux

package situations_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/reach"
)

// A situation is how two hosts are joined, which pairs of addresses are chosen there, and
// what becomes of others. docs/results/networks.md says why each choice is right.
type situation struct {
	name  string
	build func(t *testing.T, n *testnet.Net, a, b *testnet.Host)
	pairs []string          // chosen on a: "10.1.0.1-10.1.0.2"
	spare []string          // tried if those fail
	why   map[string]string // of these and others, in parts
	env   []string
}

const publicNet, privateNet = "203.0.113.0/24", "10.1.0.0/24"

func joined(subnets ...string) func(*testing.T, *testnet.Net, *testnet.Host, *testnet.Host) {
	return func(_ *testing.T, n *testnet.Net, a, b *testnet.Host) {
		for _, s := range subnets {
			n.Link(a, b, testnet.Subnet(s))
		}
	}
}

var situations = []situation{
	{
		name: "docker bridge", // and the cluster's network has public addresses
		build: func(_ *testing.T, n *testnet.Net, a, b *testnet.Host) {
			a.Bridge("docker0", "172.17.0.1/16")
			b.Bridge("docker0", "172.17.0.1/16")
			n.Link(a, b, testnet.Subnet(publicNet))
		},
		pairs: []string{"203.0.113.1-203.0.113.2"},
		why: map[string]string{
			"172.17.0.1-172.17.0.1":  "this host holds 172.17.0.1 (docker0) too",
			"203.0.113.1-172.17.0.1": "this host holds 172.17.0.1 (docker0) too",
		},
	},
	{
		name: "docker bridges of other addresses",
		build: func(_ *testing.T, n *testnet.Net, a, b *testnet.Host) {
			a.Bridge("docker0", "172.17.0.1/16")
			b.Bridge("docker0", "172.17.0.9/16")
			n.Link(a, b, testnet.Subnet(publicNet))
		},
		pairs: []string{"203.0.113.1-203.0.113.2"},
		spare: []string{"172.17.0.1-172.17.0.9"},
		why:   map[string]string{"172.17.0.1-172.17.0.9": "docker0 here is a bridge without a card"},
	},
	{
		name: "overlay over its card",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			l := n.Link(a, b, testnet.Subnet(privateNet))
			overlay(t, l.A, l.B.Addr(0), "flannel.1", "10.244.0.1/16")
			overlay(t, l.B, l.A.Addr(0), "flannel.1", "10.244.0.2/16")
		},
		pairs: []string{"10.1.0.1-10.1.0.2"},
		spare: []string{"10.244.0.1-10.244.0.2"},
		why:   map[string]string{"10.244.0.1-10.244.0.2": "the same two interfaces are joined by 10.1.0.1 (eth0) → 10.1.0.2 (eth0)"},
	},
	{
		name: "tunnel beside its underlay",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			tunnel(t, a, b, "tun0", "10.8.0.1/24", "10.8.0.2/24")
			n.Link(a, b, testnet.Subnet(privateNet))
		},
		pairs: []string{"10.1.0.1-10.1.0.2"},
		spare: []string{"10.8.0.1-10.8.0.2"},
		why:   map[string]string{"10.8.0.1-10.8.0.2": "tun0 here is a tunnel over an interface that is not known"},
	},
	{
		name: "nothing but a tunnel",
		build: func(t *testing.T, _ *testnet.Net, a, b *testnet.Host) {
			tunnel(t, a, b, "tun0", "10.8.0.1/24", "10.8.0.2/24")
		},
		pairs: []string{"10.8.0.1-10.8.0.2"},
	},
	{
		name:  "public and private",
		build: joined(publicNet, privateNet),
		pairs: []string{"10.1.0.1-10.1.0.2"},
		spare: []string{"203.0.113.1-203.0.113.2"},
		why:   map[string]string{"203.0.113.1-203.0.113.2": "its addresses are public, and private ones join the hosts as directly"},
	},
	{
		name: "a line between two, /32",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			l := n.Link(a, b)
			peerAddress(t, l.A, "10.9.0.1", "10.9.0.2")
			peerAddress(t, l.B, "10.9.0.2", "10.9.0.1")
		},
		pairs: []string{"10.9.0.1-10.9.0.2"},
		why:   map[string]string{"10.9.0.1-10.9.0.2": "direct route to another subnet"},
	},
	{
		name: "several lines, one address here",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			other := n.Link(a, n.Host("c"))
			l := n.Link(a, b)
			peerAddress(t, other.A, "10.9.0.1", "10.9.0.3")
			peerAddress(t, l.A, "10.9.0.1", "10.9.0.2")
			peerAddress(t, l.B, "10.9.0.2", "10.9.0.1")
		},
		pairs: []string{"10.9.0.1-10.9.0.2"},
	},
	{
		name: "addresses of the hosts' own",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			r := n.Host("r")
			left, right := n.Link(a, r), n.Link(r, b)
			r.Forward()
			for h, address := range map[*testnet.Host]string{a: "10.0.0.1/32", b: "10.0.0.2/32", r: "10.0.0.3/32"} {
				on(t, h, func() error { return raise("lo", address) })
			}
			r.Sysctl("net/ipv4/conf/all/proxy_arp", "1")
			onLink(t, left.A, "10.0.0.2/32")
			onLink(t, left.B, "10.0.0.1/32")
			onLink(t, right.A, "10.0.0.2/32")
			onLink(t, right.B, "10.0.0.1/32")
		},
		pairs: []string{"10.0.0.1-10.0.0.2"},
	},
	{
		name: "address translation",
		build: func(_ *testing.T, n *testnet.Net, a, b *testnet.Host) {
			r := n.Host("r")
			left := n.Link(a, r, testnet.Subnet(privateNet))
			right := n.Link(r, b, testnet.Subnet(publicNet))
			r.Forward()
			a.Route("0.0.0.0/0", left.B.Addr(0))
			r.NAT(privateNet, right.A.Addr(0).String())
		},
		pairs: []string{"10.1.0.1-203.0.113.2"},
		why:   map[string]string{"10.1.0.1-203.0.113.2": "by gateway 10.1.0.2, a private and a public address"},
	},
	{
		name: "one-way firewall",
		build: func(_ *testing.T, n *testnet.Net, a, b *testnet.Host) {
			n.Link(a, b, testnet.Subnet(privateNet))
			b.Firewall(20000, 20010)
		},
		pairs: []string{"10.1.0.1-10.1.0.2"},
		env:   []string{"STRAND_BTL_TCP_PORT_MIN=20000", "STRAND_BTL_TCP_PORT_RANGE=10"},
	},
	{
		name: "nothing but link-local addresses",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			n.Link(a, b)
			awaitLinkLocal(t, a)
			awaitLinkLocal(t, b)
		},
		pairs: []string{"fe80::"},
	},
	{
		name: "two cards in one subnet",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			switched(t, n, a, b, "10.1.0.1/24", "10.1.0.3/24", "10.1.0.2/24", "10.1.0.4/24")
		},
		pairs: []string{"10.1.0.1-10.1.0.2"},
		why:   map[string]string{"10.1.0.3-10.1.0.4": "the kernel sends it out by eth0, not by eth1"},
	},
	{
		name: "two cards in one subnet, with policy routes",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			switched(t, n, a, b, "10.1.0.1/24", "10.1.0.3/24", "10.1.0.2/24", "10.1.0.4/24")
			policyRoute(t, a, "eth1", "10.1.0.3", privateNet, 101)
			policyRoute(t, b, "eth1", "10.1.0.4", privateNet, 101)
		},
		pairs: []string{"10.1.0.1-10.1.0.2", "10.1.0.3-10.1.0.4"},
	},
	{
		name: "200 veths",
		build: func(t *testing.T, n *testnet.Net, a, b *testnet.Host) {
			manyVeths(t, a, 200)
			n.Link(a, b, testnet.Subnet(privateNet))
		},
		pairs: []string{"10.1.0.1-10.1.0.2"},
	},
}

func TestSituations(t *testing.T) {
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			n, a, b := nettest.Hosts(t)
			s.build(t, n, a, b)
			s.requireChoice(t, nettest.Pairs(t, a, b))
			require.Len(t, nettest.Pairs(t, b, a).Pairs, len(s.pairs))
			s.requireTraffic(t, nettest.Play("ring", []*testnet.Host{a, b}, s.env...))
		})
	}
}

// requireChoice expects the pairs that are chosen and what is said of others.
func (s *situation) requireChoice(t *testing.T, r reach.Result) {
	t.Helper()
	require.Len(t, r.Pairs, len(s.pairs), "%s", r.Table())
	text := make(map[string]string)
	for i, p := range append(r.Pairs, r.Rejected...) {
		way := fmt.Sprintf("%v-%v", p.Local.Addr(), p.Remote.Addr())
		text[way] = p.Why
		if i < len(s.pairs) {
			assert.Contains(t, way, s.pairs[i], "%s", r.Table())
			t.Logf("chosen: %v (weight %s, %s)", p, reach.FormatWeight(p.Weight), p.Why)
		}
	}
	for way, part := range s.why {
		assert.Contains(t, text[way], part, way)
	}
	var spares []string
	for _, p := range r.Spares() {
		spares = append(spares, fmt.Sprintf("%v-%v", p.Local.Addr(), p.Remote.Addr()))
	}
	assert.Subset(t, spares, s.spare)
}

// requireTraffic expects that messages go by the chosen pairs. Spare ones are called in
// as well where connecting takes long, as it may on a busy machine, but not every time.
func (s *situation) requireTraffic(t *testing.T, job nettest.Job) {
	t.Helper()
	var rails []string
	for range 3 {
		run := job.Run(t)
		require.NoError(t, run.Wait())
		rails = nil
		for _, line := range run.Lines(0) {
			if rail, ok := strings.CutPrefix(line.Text, "rail to 1: "); ok {
				rails = append(rails, rail)
			}
		}
		if len(rails) <= len(s.pairs) {
			break
		}
		t.Logf("more than expected: %v", rails)
	}
	require.Len(t, rails, len(s.pairs))
	for _, pair := range s.pairs {
		local, _, _ := strings.Cut(pair, "-")
		assert.Contains(t, strings.Join(rails, "\n"), local)
	}
}

const (
	noNetlinkVariable = "NETTEST_NO_NETLINK" // has a rank live without netlink
	noIPVariable      = "NETTEST_NO_IP"      // has a rank live without any sockets but those of Unix
)

// forbid takes from this process what its environment says.
func forbid() error {
	switch {
	case os.Getenv(noNetlinkVariable) != "":
		return testnet.ForbidNetlink(true)
	case os.Getenv(noIPVariable) != "":
		return testnet.ForbidIP()
	}
	return nil
}

// Where a sandbox allows no sockets of IP, or the system has no port left to choose, the ranks of a host have
// their memory. Without that the error says what TCP lacks.
func TestSituationNoTCP(t *testing.T) {
	for name, c := range map[string]struct {
		env, ports, why string
	}{
		"no sockets of IP": {env: noIPVariable + "=1", why: "RestrictAddressFamilies|could not open it"},
		"no free port":     {env: "X=", ports: "40000 40000", why: "net.ipv4.ip_local_port_range|could not open it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, a, _ := nettest.Hosts(t)
			if c.ports != "" {
				a.Sysctl("net/ipv4/ip_local_port_range", c.ports)
			}
			near := []*testnet.Host{a, a}
			run := nettest.Play("ring", near, c.env).Run(t)
			require.NoError(t, run.Wait(), "%v", run)

			run = nettest.Play("ring", near, c.env, "STRAND_BTL=tcp,self").Run(t)
			require.Error(t, run.Wait())
			require.Regexp(t, c.why, run.String(), "of the rank that lacks it, or of the other")
		})
	}
}

// Without netlink, which the standard library needs to list interfaces as well, those
// are found all the same; of routes nothing is known.
func TestSituationNoNetlink(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet(privateNet), testnet.Subnet("fd00:1::/64"))
	n.Link(a, b, testnet.Subnet(publicNet))
	s := situation{pairs: []string{"10.1.0.1-10.1.0.2"}}
	s.requireTraffic(t, nettest.Play("ring", []*testnet.Host{a, b}, noNetlinkVariable+"=1"))
}

// Where the boot id can not be read nobody knows who is on one host: the addresses that
// both have are tried, the loopback first, and no others are disturbed by that.
func TestSituationMaskedBootID(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet(privateNet))
	const mask = `mount --bind /dev/null /proc/sys/kernel/random/boot_id && exec "$@"`
	masked := func(placement ...*testnet.Host) nettest.Job {
		job := nettest.Play("ring", placement, "STRAND_BTL=tcp,self")
		job.Args = append([]string{"-m", "sh", "-c", mask, "sh", job.Program}, job.Args...)
		job.Program = need.Program(t, "unshare", "util-linux")
		return job
	}
	near := situation{pairs: []string{"127.0.0.1-127.0.0.1"}}
	near.requireTraffic(t, masked(a, a))
	far := situation{pairs: []string{"10.1.0.1-10.1.0.2"}}
	far.requireTraffic(t, masked(a, b))
}
