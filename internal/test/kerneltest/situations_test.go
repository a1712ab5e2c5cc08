//go:build linux

package kerneltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/reach"
)

// Kinds of interfaces that few kernels of machines for tests have, each beside the card
// that it runs over. docs/results/networks.md says why each choice is right.
var beside = []struct {
	name, subnet string // the name of the interface; "10.5.0.", to which 1 and 2 are added
	link         func(card, other *testnet.NIC) netlink.Link
	known        bool // the kernel tells what it runs over
	flags        reach.Flags
}{
	{"eth0.5", "10.5.0.", func(card, _ *testnet.NIC) netlink.Link {
		return &netlink.Vlan{LinkAttrs: netlink.LinkAttrs{ParentIndex: card.Index()}, VlanId: 5}
	}, true, 0},
	{"wg0", "10.7.0.", func(*testnet.NIC, *testnet.NIC) netlink.Link { return &netlink.Wireguard{} }, false, reach.Tunnel},
	{"gre1", "10.6.0.", func(card, other *testnet.NIC) netlink.Link {
		return &netlink.Gretun{Local: card.Addr(0).AsSlice(), Remote: other.Addr(0).AsSlice()}
	}, true, reach.Tunnel},
	{"ipip1", "10.4.0.", func(_, other *testnet.NIC) netlink.Link {
		return &netlink.Iptun{Local: []byte{0, 0, 0, 0}, Remote: other.Addr(0).AsSlice()} // by the route
	}, true, reach.Tunnel},
	{"ipvlan0", "10.3.0.", func(card, _ *testnet.NIC) netlink.Link {
		return &netlink.IPVlan{LinkAttrs: netlink.LinkAttrs{ParentIndex: card.Index()}, Mode: netlink.IPVLAN_MODE_L2}
	}, true, 0},
}

// addBeside adds all of them to a card's host.
func addBeside(card, other *testnet.NIC, end int) error {
	for _, k := range beside {
		l := k.link(card, other)
		l.Attrs().Name = k.name
		if err := netlink.LinkAdd(l); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		made, err := netlink.LinkByName(k.name)
		if err != nil {
			return err
		}
		addr, err := netlink.ParseAddr(fmt.Sprintf("%s%d/24", k.subnet, end))
		if err != nil {
			return err
		}
		if err := errors.Join(netlink.AddrAdd(made, addr), netlink.LinkSetUp(made)); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// meet has two ranks exchange a message and tell by which ways.
func meet(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	buf := make([]byte, 1)
	if _, err := c.Sendrecv(ctx, buf, 1-c.Rank(), 1, make([]byte, 1), 1-c.Rank(), 1); err != nil {
		return err
	}
	for _, rail := range w.Rails() {
		fmt.Println("rail:", rail.Desc)
	}
	fmt.Println(len(w.Rails()), "rails in all")
	return nil
}

// What a card carries is no second way beside it, whatever it is called.
func TestKernelSituations(t *testing.T) {
	need.KernelMachine(t)
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	card := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	require.NoError(t, a.Do(func() error { return addBeside(card.A, card.B, 1) }))
	require.NoError(t, b.Do(func() error { return addBeside(card.B, card.A, 2) }))

	r := nettest.Pairs(t, a, b)
	require.Len(t, r.Pairs, 1, "%s", r.Table())
	assert.Equal(t, "10.1.0.1 (eth0) → 10.1.0.2 (eth0)", r.Pairs[0].String())
	spares := make(map[string]reach.Pair)
	for _, p := range r.Spares() {
		spares[p.Local.Interface+" "+p.Remote.Interface] = p
	}
	for _, k := range beside {
		p, found := spares[k.name+" "+k.name]
		if !assert.True(t, found, "%s\n%s", k.name, r.Table()) {
			continue
		}
		t.Logf("%v: %s", p, p.Why)
		assert.Equal(t, k.flags, p.Local.Flags&(reach.Tunnel|reach.Enclosed), k.name)
		if k.known {
			assert.Equal(t, card.A.Index(), p.Local.Device, k.name)
			assert.Contains(t, p.Why, "the same two interfaces are joined by 10.1.0.1 (eth0)")
		} else {
			assert.Contains(t, p.Why, "is a tunnel over an interface that is not known")
		}
	}

	job := nettest.Play("meet", []*testnet.Host{a, b}, "STRAND_BTL=tcp,self", "STRAND_PROGRESS_SPIN=0s").Run(t)
	require.NoError(t, job.Wait())
	assert.Contains(t, job.Await(0, "rail: ").Text, "10.1.0.1")
}
