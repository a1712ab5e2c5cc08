//go:build linux

package testnet_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/testnet"
)

func TestLink(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"), testnet.Ends("10.7.0.7/16", "10.7.0.8/16"), testnet.MTU(9000))
	assert.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.1.0.2/24"), netip.MustParsePrefix("fd00:1::2/64"), netip.MustParsePrefix("10.7.0.8/16"),
	}, l.B.Addrs())
	for i := range l.B.Addrs() {
		near, far := pair(t, a, listen(t, b, l.B.Addr(i), 0))
		requireTalk(t, near, far)
		assert.Equal(t, l.A.Addr(i), netip.MustParseAddrPort(near.LocalAddr().String()).Addr())
	}
	require.NoError(t, b.Do(func() error {
		nic, err := net.InterfaceByName(l.B.Name())
		if err == nil {
			assert.Equal(t, 9000, nic.MTU)
			assert.Equal(t, l.B.Index(), nic.Index)
		}
		return err
	}))
}

func TestSeveralLinks(t *testing.T) {
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	one := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	two := n.Link(a, b, testnet.Subnet("10.2.0.0/24"))
	assert.Equal(t, []*testnet.NIC{one.A, two.A}, a.NICs())
	assert.Equal(t, "eth1", two.B.Name())
	toOne, toTwo := listen(t, b, one.B.Addr(0), 0), listen(t, b, two.B.Addr(0), 0)
	one.Loss(1)
	requireNoAnswer(t, a, toOne)
	near, far := pair(t, a, toTwo)
	requireTalk(t, near, far)
	one.Loss(0)
	near, far = pair(t, a, toOne)
	requireTalk(t, near, far)
}

func TestDownAndUp(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	for i := range 2 {
		listener := listen(t, b, l.B.Addr(i), 0)
		near, far := pair(t, a, listener)
		l.Down()
		_, err := dial(a, listener, watchdog)
		require.ErrorIs(t, err, unix.ENETUNREACH)
		l.Up()
		requireTalk(t, near, far) // a connection survives
		near, far = pair(t, a, listener)
		requireTalk(t, near, far)
	}
}

// A link is not faster than its rate. A slow machine can not make this fail.
func TestRate(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"), testnet.Rate(100))
	assert.Equal(t, 100, l.A.Speed())
	near, far := pair(t, a, listen(t, b, l.B.Addr(0), 0))
	const size = 4 << 20
	start := time.Now()
	go func() {
		_, _ = near.Write(make([]byte, size)) // a failure is the reader's too
		near.Close()
	}()
	n, err := io.Copy(io.Discard, far)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	took := time.Since(start)
	const least = 300 * time.Millisecond // 320 ms without what the bucket holds at first
	assert.Greater(t, took, least)
	t.Logf("%d bytes in %v: %.0f Mbit/s", size, took, size*8/took.Seconds()/1e6)
}

func TestLossInPart(t *testing.T) {
	const sent, most = 1000, 900
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"))
	var to *net.UDPConn
	require.NoError(t, b.Do(func() (err error) {
		to, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(l.B.Addr(0), 0)))
		return err
	}))
	defer func() { _ = to.Close() }()
	var from net.Conn
	require.NoError(t, a.Do(func() (err error) {
		from, err = net.Dial("udp", to.LocalAddr().String())
		return err
	}))
	defer from.Close()

	l.Loss(0.3)
	go func() {
		for range sent {
			_, _ = from.Write([]byte{0})
		}
		l.Loss(0)
		for { // until the reader has seen one, should it be behind
			if _, err := from.Write([]byte{1}); err != nil {
				return
			}
		}
	}()
	received := 0
	require.NoError(t, to.SetDeadline(time.Now().Add(watchdog)))
	for b := make([]byte, 1); ; received++ {
		_, err := to.Read(b)
		require.NoError(t, err)
		if b[0] == 1 {
			break
		}
	}
	_ = from.Close()
	assert.Less(t, received, most, "of %d", sent)
	assert.Greater(t, received, 0)
}

func TestFirewall(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"))
	open, closed := listen(t, b, l.B.Addr(0), 20000), listen(t, b, l.B.Addr(0), 20001)
	before, beforeFar := pair(t, a, closed)
	b.Firewall(20001, 20010)
	requireNoAnswer(t, a, closed)
	near, far := pair(t, a, open)
	requireTalk(t, near, far)
	requireTalk(t, before, beforeFar)

	b.Firewall(1, 65535) // b reaches a, not a b
	requireNoAnswer(t, a, open)
	near, far = pair(t, b, listen(t, a, l.A.Addr(0), 0))
	requireTalk(t, near, far)
}

func TestNAT(t *testing.T) {
	n := testnet.New(t)
	a, r, b := n.Host("a"), n.Host("r"), n.Host("b")
	left := n.Link(a, r, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	right := n.Link(r, b, testnet.Subnet("10.2.0.0/24"), testnet.Subnet("fd00:2::/64"))
	r.Forward()
	a.Route("10.2.0.0/24", left.B.Addr(0))
	a.Route("fd00:2::/64", left.B.Addr(1))
	r.NAT("10.1.0.0/24", right.A.Addr(0).String())
	r.NAT("fd00:1::/64", right.A.Addr(1).String())
	for i := range 2 {
		near, far := pair(t, a, listen(t, b, right.B.Addr(i), 0)) // b has no route to a
		requireTalk(t, near, far)
		assert.Equal(t, right.A.Addr(i), netip.MustParseAddrPort(far.RemoteAddr().String()).Addr())
	}
}

func TestResetConnections(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	reset := map[string]func() int{"host": a.ResetConnections, "interface": l.A.ResetConnections}
	for name, reset := range reset {
		for i := range 2 {
			near, far := pair(t, a, listen(t, b, l.B.Addr(i), 0))
			requireTalk(t, near, far)
			assert.Equal(t, 1, reset(), name)
			_, err := far.Read(make([]byte, 1))
			assert.ErrorIs(t, err, unix.ECONNRESET, name)
			_, err = near.Read(make([]byte, 1))
			assert.True(t, errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.ECONNRESET), "%v", err)
			near.Close()
			far.Close()
			assert.Equal(t, 0, reset(), name)
		}
	}
}

func TestBridgeIsTheHostsOwn(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"))
	docker := a.Bridge("docker0", "172.17.0.1/16")
	b.Bridge("docker0", "172.17.0.1/16")
	listener := listen(t, b, docker.Addr(0), 20000)
	_, err := dial(a, listener, watchdog)
	require.ErrorIs(t, err, unix.ECONNREFUSED, "a itself has that address")
	near, far := pair(t, a, listen(t, b, l.B.Addr(0), 0))
	requireTalk(t, near, far)
}

func TestIslandLeadsNowhere(t *testing.T) {
	a, b, _ := two(t, testnet.Subnet("10.1.0.0/24"))
	a.Island("mgmt0", "192.168.100.1/24")
	mgmt := b.Island("mgmt0", "192.168.100.2/24")
	requireNoAnswer(t, a, listen(t, b, mgmt.Addr(0), 0))
}
