//go:build linux

package testnet_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// watchdog ends what hangs.
const watchdog = time.Minute

// two returns two hosts and the link between them.
func two(t *testing.T, options ...testnet.LinkOption) (a, b *testnet.Host, l *testnet.Link) {
	n := testnet.New(t)
	a, b = n.Host("a"), n.Host("b")
	return a, b, n.Link(a, b, options...)
}

// listen listens on a host at an address.
func listen(t *testing.T, h *testnet.Host, addr netip.Addr, port uint16) *net.TCPListener {
	var l *net.TCPListener
	require.NoError(t, h.Do(func() (err error) {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, port)))
		return err
	}))
	t.Cleanup(func() { l.Close() })
	require.NoError(t, l.SetDeadline(time.Now().Add(watchdog)))
	return l
}

// dial connects from a host to where a listener listens.
func dial(h *testnet.Host, l *net.TCPListener, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var conn net.Conn
	err := h.Do(func() (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		return err
	})
	return conn, err
}

// pair connects two hosts by TCP.
func pair(t *testing.T, from *testnet.Host, l *net.TCPListener) (near, far net.Conn) {
	near, err := dial(from, l, watchdog)
	require.NoError(t, err)
	t.Cleanup(func() { near.Close() })
	far, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { far.Close() })
	for _, c := range []net.Conn{near, far} {
		require.NoError(t, c.SetDeadline(time.Now().Add(watchdog)))
	}
	return near, far
}

// requireTalk sends a byte there and back.
func requireTalk(t *testing.T, near, far net.Conn) {
	t.Helper()
	for _, ends := range [][2]net.Conn{{near, far}, {far, near}} {
		_, err := ends[0].Write([]byte{'x'})
		require.NoError(t, err)
		_, err = ends[1].Read(make([]byte, 1))
		require.NoError(t, err)
	}
}

// silence is how long to wait for what must not come. A slow machine makes the
// tests that use it miss a fault, not fail.
const silence = 300 * time.Millisecond

// requireNoAnswer expects that nothing answers to an attempt to connect.
func requireNoAnswer(t *testing.T, from *testnet.Host, l *net.TCPListener) {
	t.Helper()
	conn, err := dial(from, l, silence)
	if err == nil {
		conn.Close()
	}
	require.Error(t, err)
	netErr, ok := errors.AsType[net.Error](err)
	require.True(t, ok && netErr.Timeout(), "%v", err)
}
