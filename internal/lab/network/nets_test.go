//go:build linux

package network_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
)

// through makes UDP sockets of two hosts on one of the networks.
func through(t *testing.T, n *network.Network, number, from, to int) (a, b *net.UDPConn) {
	t.Helper()
	on := func(host int) (c *net.UDPConn) {
		addr, there := n.Host(host).AddrOn(number)
		require.True(t, there)
		require.NoError(t, n.Host(host).Do(func() (err error) {
			c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
			return err
		}))
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, c.SetDeadline(time.Now().Add(watchdog)))
		return c
	}
	return on(from), on(to)
}

// cross sends a datagram and returns what it took.
func cross(t *testing.T, a, b *net.UDPConn) time.Duration {
	t.Helper()
	start := time.Now()
	_, err := a.WriteTo([]byte("hello"), b.LocalAddr())
	require.NoError(t, err)
	_, _, err = b.ReadFrom(make([]byte, 9))
	require.NoError(t, err)
	return time.Since(start)
}

// Hosts with several networks: each has its own conditions, hosts and counters.
func TestSeveralNetworks(t *testing.T) {
	n, end := build(t, network.Config{Hosts: 3, Names: []string{"a", "b", "c"}, Nets: []network.Net{
		{Name: "near"},
		{Name: "far", On: []int{0, 2}, Link: delayed(50 * time.Millisecond)},
	}})
	a, b := through(t, n, 0, 1, 2)
	cross(t, a, b)
	a, b = through(t, n, 1, 0, 2)
	assert.GreaterOrEqual(t, cross(t, a, b), 50*time.Millisecond)
	_, there := n.Host(1).AddrOn(1)
	assert.False(t, there)
	assert.Equal(t, netip.MustParseAddr("10.66.0.3"), n.Host(2).Addr())

	r := end()
	require.Len(t, r.Nets, 2)
	for i, want := range []network.PathReport{{From: 1, To: 2}, {From: 0, To: 2}} {
		got := r.Nets[i]
		assert.Equal(t, []string{"near", "far"}[i], got.Name)
		assert.EqualValues(t, 1, got.Total.Delivered)
		require.Len(t, got.Paths, 1)
		assert.Equal(t, [2]int{want.From, want.To}, [2]int{got.Paths[0].From, got.Paths[0].To})
		assert.Empty(t, got.Down)
		assert.Positive(t, got.Lived)
	}
	assert.EqualValues(t, 2, r.Total.Delivered)
}

// requireOutage has a network down from its start on, and up again: what was sent meanwhile
// does not arrive, and is counted; the other network is there all the time.
func requireOutage(t *testing.T, n *network.Network, end func() network.Report) {
	a, b := through(t, n, 0, 0, 1)
	cross(t, a, b)
	a, b = through(t, n, 1, 0, 1)
	got := make(chan struct{})
	go func() {
		_, _, _ = b.ReadFrom(make([]byte, 9))
		close(got)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	sent := 0
	for arrived := false; !arrived; {
		_, err := a.WriteTo([]byte("hello"), b.LocalAddr())
		require.NoError(t, err)
		sent++
		select {
		case <-got:
			arrived = true
		case <-tick.C:
			require.Less(t, sent, 1000)
		}
	}
	r := end()
	assert.Zero(t, r.Nets[0].Total.Cut)
	down := r.Nets[1]
	assert.EqualValues(t, 1, r.Nets[0].Total.Delivered)
	assert.Positive(t, down.Total.Cut)
	assert.Zero(t, down.Total.Lost)
	assert.Equal(t, down.Total.Sent, down.Total.Cut+down.Total.Delivered)
	assert.Equal(t, []emulate.Outage{{At: 0, For: 300 * time.Millisecond}}, down.Down)
}

func outage() network.Config {
	return network.Config{Hosts: 2, Nets: []network.Net{
		{Name: "always"},
		{Name: "late", Down: emulate.Schedule{Outages: []emulate.Outage{{At: 0, For: 300 * time.Millisecond}}}},
	}}
}

func TestNetworkGoesDownAndUp(t *testing.T) {
	c := outage()
	c.Backend = network.UserSpace
	n, end := build(t, c)
	requireOutage(t, n, end)
}

func TestKernelNetemGoesDownAndUp(t *testing.T) {
	n, end := byNetem(t, outage())
	requireOutage(t, n, end)
}

func TestNetworksThatCanNotBe(t *testing.T) {
	for want, c := range map[string]network.Config{
		"network x: hosts [2] of 2":           {Hosts: 2, Nets: []network.Net{{Name: "x", On: []int{2}}}},
		"network x: hosts [1 0] of 2":         {Hosts: 2, Nets: []network.Net{{Name: "x", On: []int{1, 0}}}},
		"network x: 1 NICs for 2 hosts":       {Hosts: 2, Nets: []network.Net{{Name: "x", NICs: make([]emulate.NIC, 1)}}},
		"17 networks between the hosts: want": {Hosts: 2, Nets: make([]network.Net, 17)},
		"network x: down at 0s for 0s":        {Hosts: 2, Nets: []network.Net{{Name: "x", Down: emulate.Schedule{Outages: make([]emulate.Outage, 1)}}}},
	} {
		_, err := network.New(c)
		assert.ErrorContains(t, err, want)
	}
}
