package tcp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func TestMistakesInParameters(t *testing.T) {
	for name, test := range map[string]struct {
		opts []option
		want []string
	}{
		"include and exclude":         {[]option{set(pExclude, "eth9")}, []string{pInclude + "=127.0.0.1", pExclude + "=eth9", "test", "exclude each other"}},
		"unknown interface":           {[]option{set(pInclude, "nosuch0")}, []string{pInclude + "=nosuch0", "test", "there are", "127.0.0.1"}},
		"include that fits nothing":   {[]option{set(pInclude, "240.0.0.0/8")}, []string{pInclude + "=240.0.0.0/8", "test", "no interface that is up fits", "there are", "127.0.0.1"}},
		"exclude that fits nothing":   {[]option{set(pInclude, ""), set(pExclude, "nosuch0")}, []string{pExclude + "=nosuch0", "test", "there are", "127.0.0.1"}},
		"exclude that leaves nothing": {[]option{set(pInclude, ""), set(pExclude, "*")}, []string{pExclude + "=*", "test", "leaves no network", "127.0.0.1"}},
		"range without start":         {[]option{set(pPortRange, "5")}, []string{pPortRange, pPortMin}},
		"congestion control":          {[]option{set(pCongestion, "nosuch")}, []string{pCongestion + "=nosuch", "test", "tcp_allowed_congestion_control"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryNode(t, 0, 2, append([]option{set(pInclude, "127.0.0.1")}, test.opts...)...)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			var unavailable *btl.UnavailableError
			require.False(t, errors.As(err, &unavailable), "a mistake ends the start-up")
		})
	}
}

// Where hosts differ, an entry that fits nothing here can be made to count as a
// warning.
func TestUnknownInterfaceIsTold(t *testing.T) {
	n := newNode(t, 0, 2, set(pInclude, "127.0.0.1,nosuch0"), set(prefixOfAll+"if_unknown", "warn"))
	lines := n.logged(btl.LogWarn)
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], pInclude+"=127.0.0.1,nosuch0 from")
	require.Contains(t, lines[0], `no interface that is up fits "nosuch0"; there are `)
}

// freeRange finds a port with another free port behind it.
func freeRange(t *testing.T) int {
	for range 100 {
		fd, err := rawio.Listen(netip.MustParseAddrPort("127.0.0.1:0"), backlog)
		require.NoError(t, err)
		port := rawio.LocalAddr(fd).Port()
		next, err := rawio.Listen(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port+1), backlog)
		rawio.Close(fd)
		if err == nil {
			rawio.Close(next)
			return int(port)
		}
	}
	t.Fatal("no two free ports in a row")
	return 0
}

// fillRange opens a node on each port of a range of two. Another process may take one
// of the two first; then it is another range.
func fillRange(t *testing.T) (a, b *node, first int, opts []option) {
	const attempts = 10
	for n := 1; ; n++ {
		first = freeRange(t)
		opts = []option{set(pInclude, "127.0.0.1"), set(pPortMin, fmt.Sprint(first)), set(pPortRange, "2")}
		var err error
		if a, err = tryNode(t, 0, 3, opts...); err == nil {
			b, err = tryNode(t, 1, 3, opts...)
		}
		if n < attempts && errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		require.NoError(t, err)
		return a, b, first, opts
	}
}

func TestPortRange(t *testing.T) {
	a, b, first, opts := fillRange(t)
	require.Equal(t, first, int(a.mod.Local.Port))
	require.Equal(t, first+1, int(b.mod.Local.Port))
	_, err := tryNode(t, 2, 3, opts...)
	require.ErrorContains(t, err, fmt.Sprintf("none of the ports %d to %d (%s=%d from test, %s=2 from test)", first, first+1, pPortMin, first, pPortRange))
	require.NotContains(t, err.Error(), "btl tcp", "the name is the host's to add")
	require.ErrorContains(t, err, pPortRange)
	require.ErrorContains(t, err, "127.0.0.1")
	require.ErrorContains(t, err, "in use")
}

func TestOnePortOnAllAddresses(t *testing.T) {
	n := newNode(t, 0, 2, set(pInclude, "*"))
	require.NotEmpty(t, n.mod.listeners)
	for i, l := range n.mod.listeners {
		at := rawio.LocalAddr(l.fd)
		require.Equal(t, n.mod.Local.Port, at.Port())
		require.Equal(t, n.mod.Local.Interfaces[i].Addr(), at.Addr().WithZone(""), "only selected addresses are listened on")
	}
	got, err := wireup.Decode(n.mod.Address())
	require.NoError(t, err)
	require.Equal(t, reach.ThisNetwork(), got.Network)
	require.Equal(t, "host0", got.Host)
}

// Nobody connects to a process that is alone in its job: it does not listen.
func TestAloneNothingListens(t *testing.T) {
	n := newNode(t, 0, 1, set(pInclude, "*"))
	require.Empty(t, n.mod.listeners)
	require.Nil(t, n.mod.Address())
	require.Equal(t, "tcp", n.mod.Attr().Name)
	require.Positive(t, n.mod.Attr().Bandwidth)
}

func TestReach(t *testing.T) {
	a, b := newNode(t, 0, 3), newNode(t, 1, 3)
	paths, err := a.mod.Reach(btl.Peer{Rank: 1, Address: b.mod.Address()})
	require.NoError(t, err)
	require.Len(t, paths, 1)
	require.Contains(t, paths[0].Desc, "127.0.0.1")
	require.Equal(t, loopbackLatency, paths[0].Latency)
	require.Positive(t, paths[0].Bandwidth)

	_, err = a.mod.Reach(btl.Peer{Rank: 0, Address: a.mod.Address()})
	require.ErrorContains(t, err, "self")
	_, err = a.mod.Reach(btl.Peer{Rank: 2, Host: "far", Address: []byte("garbage")})
	require.ErrorContains(t, err, "rank 2 on far")
	elsewhere := wireup.Address{Port: 1, Network: reach.Network{1}, Interfaces: []reach.Address{nic("lo", "127.0.0.1/8", 0)}}
	elsewhere.Interfaces[0].Flags = reach.Loopback
	_, err = a.mod.Reach(btl.Peer{Rank: 2, Host: "far", Address: elsewhere.Encode()})
	require.ErrorIs(t, err, wireup.ErrNoPair)
	require.ErrorContains(t, err, pInclude)

	_, err = a.mod.Connect(btl.Peer{Rank: 3}, paths[0], &peer{})
	require.ErrorContains(t, err, "rank 3")
	_, err = a.mod.Connect(btl.Peer{Rank: 1}, btl.Path{}, &peer{})
	require.ErrorContains(t, err, "not from Reach of this module")
	a.reach(b)
	_, err = a.mod.Connect(btl.Peer{Rank: 1}, paths[0], &peer{})
	require.ErrorContains(t, err, "already")
}

func TestAttributes(t *testing.T) {
	n := newNode(t, 0, 2, set(pMaxFrag, "2M"), set(pEagerLimit, "32K"))
	attr := n.mod.Attr()
	require.Equal(t, 2<<20, attr.MaxFrame)
	require.Equal(t, 32<<10, attr.EagerLimit)
	require.True(t, attr.EagerFixed, "it was set")
	require.False(t, newNode(t, 0, 2).mod.Attr().EagerFixed)
	require.True(t, attr.Ordered && attr.Reliable && !attr.Confirms && !attr.Unbreakable)
	require.Equal(t, 1, attr.Lanes)
	require.False(t, n.mod.Progress())
}

func TestNearby(t *testing.T) {
	n := newNode(t, 0, 2)
	require.True(t, n.mod.Local.Nearby(netip.MustParseAddr("127.0.0.1")))
	require.False(t, n.mod.Local.Nearby(netip.MustParseAddr("192.0.2.99")))
}
