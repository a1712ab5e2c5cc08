//go:build linux

package network_test

import (
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// watchdog ends what hangs.
const watchdog = time.Minute

// build builds a network, or skips the test where none can be had. What it returns
// ends the network, which leaves nothing behind, and says what has happened.
func build(t testing.TB, c network.Config) (*network.Network, func() network.Report) {
	t.Helper()
	testnet.New(t) // or skip
	leak.Check(t)
	if c.Backend == network.Automatic {
		c.Backend = network.UserSpace
	}
	n, err := network.New(c)
	require.NoError(t, err)
	closed := false
	end := func() (r network.Report) {
		if !closed {
			closed = true
			r, err = n.Close()
			assert.NoError(t, err)
		}
		return r
	}
	t.Cleanup(func() { end() })
	return n, end
}

// connect connects two hosts by TCP, with loss-based congestion control: the other
// kind takes its time to find out how fast a path is.
func connect(t testing.TB, from, to *network.Host) (near, far *net.TCPConn) {
	t.Helper()
	var l *net.TCPListener
	require.NoError(t, to.Do(func() (err error) {
		l, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(to.Addr(), 0)))
		return err
	}))
	defer l.Close()
	require.NoError(t, l.SetDeadline(time.Now().Add(watchdog)))
	require.NoError(t, from.Do(func() (err error) {
		c, err := (&net.Dialer{Timeout: watchdog}).Dial("tcp4", l.Addr().String())
		if err == nil {
			near = c.(*net.TCPConn)
		}
		return err
	}))
	t.Cleanup(func() { _ = near.Close() })
	far, err := l.AcceptTCP()
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close() })
	for _, c := range []*net.TCPConn{near, far} {
		require.NoError(t, c.SetDeadline(time.Now().Add(watchdog)))
		raw, err := c.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // in every kernel
		}))
		require.NoError(t, err)
	}
	return near, far
}

// transfer sends bytes that only it knows and expects them at the other end.
func transfer(t *testing.T, near, far *net.TCPConn, size int) {
	t.Helper()
	sent := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(sent) // never fails
	done := make(chan error, 1)
	go func() {
		_, err := near.Write(sent)
		done <- err
	}()
	got := make([]byte, size)
	_, err := io.ReadFull(far, got)
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.True(t, string(sent) == string(got), "what was received is not what was sent")
}

// datagrams returns a UDP socket of a host.
func datagrams(t *testing.T, h *network.Host) *net.UDPConn {
	t.Helper()
	var c *net.UDPConn
	require.NoError(t, h.Do(func() (err error) {
		c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(h.Addr(), 0)))
		return err
	}))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// refused is how many frames a host's kernel has found damaged: /proc/net/snmp has a line
// with the names of each protocol's counters and one with their values.
func refused(t *testing.T, h *network.Host) (count int) {
	t.Helper()
	var text []byte
	require.NoError(t, h.Do(func() (err error) { text, err = os.ReadFile("/proc/thread-self/net/snmp"); return err }))
	names := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		protocol, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if names[protocol] == nil {
			names[protocol] = fields
			continue
		}
		for i, name := range names[protocol] {
			if protocol == "Ip" && name == "InHdrErrors" || protocol == "Udp" && name == "InErrors" {
				n, err := strconv.Atoi(fields[i])
				require.NoError(t, err)
				count += n
			}
		}
	}
	return count
}

// delayed is a link that does nothing but take a time.
func delayed(d time.Duration) emulate.Link { return emulate.Link{Path: emulate.Path{Delay: d}} }
