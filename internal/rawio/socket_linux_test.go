package rawio

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Binding to a source takes no port: that is left to connect, which can share
// one between different targets.
func TestBindTakesNoPort(t *testing.T) {
	for _, source := range []string{"127.0.0.1", "::1"} {
		from := netip.AddrPortFrom(netip.MustParseAddr(source), 0)
		fd, err := Stream(from)
		require.NoError(t, err)
		t.Cleanup(func() { Close(fd) })
		shareLocalPort(fd)
		require.NoError(t, unix.Bind(fd, sockaddrOf(none, from)))
		require.Equal(t, from, LocalAddr(fd))
	}
}

func TestZones(t *testing.T) {
	for text, want := range map[string]string{"[fe80::1%lo]:7": "[fe80::1%1]:7", "[fe80::1%1]:7": "[fe80::1%1]:7",
		"[fe80::1%nosuch0]:7": "[fe80::1]:7", "[fe80::1]:7": "[fe80::1]:7", "10.0.0.1:7": "10.0.0.1:7"} {
		require.Equal(t, want, addrPortOf(sockaddrOf(none, netip.MustParseAddrPort(text))).String(), text)
	}
}

func TestTimeoutsAreSet(t *testing.T) {
	x, _ := connected(t, "127.0.0.1:0")
	get := func(level, option int) int {
		n, err := unix.GetsockoptInt(x.FD(), level, option)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, get(unix.SOL_SOCKET, unix.SO_KEEPALIVE))
	require.NoError(t, SetKeepalive(x.FD(), 1500*time.Millisecond, time.Millisecond, 3))
	require.Equal(t, 1, get(unix.SOL_SOCKET, unix.SO_KEEPALIVE))
	require.Equal(t, 2, get(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE))
	require.Equal(t, 1, get(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL))
	require.Equal(t, 3, get(unix.IPPROTO_TCP, unix.TCP_KEEPCNT))
	require.NoError(t, SetUserTimeout(x.FD(), 1500*time.Millisecond))
	require.Equal(t, 1500, get(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT))
}

// A zone has its number where netlink is forbidden, too: link-local addresses could not be bound there.
func TestZoneWithoutNetlink(t *testing.T) {
	all, err := net.Interfaces()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	require.NoError(t, netspace.OnThread(func() error {
		err := testnet.ForbidNetlink(false)
		for _, nic := range all {
			assert.Equal(t, uint32(nic.Index), zoneID(none, nic.Name))
		}
		assert.Zero(t, zoneID(none, "nosuch0"))
		assert.Zero(t, zoneID(none, "a name that no interface can have"))
		return err
	}))
}

// A socket has its zone's number where no other descriptor is to be had: it was 0, and a link-local address could not be bound, for
// what the system calls an invalid argument.
func TestZoneWithoutDescriptors(t *testing.T) {
	nic, err := net.InterfaceByName("lo")
	require.NoError(t, err)
	x, err := stream(netip.MustParseAddrPort("[::1]:0"))
	require.NoError(t, err)
	defer Close(x)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	got := zoneID(x, nic.Name)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	assert.Equal(t, uint32(nic.Index), got)
}
