//go:build linux

package network_test

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestHostsHaveOneInterfaceEach(t *testing.T) {
	n, _ := build(t, network.Config{Hosts: 3, MTU: 1400})
	for i, h := range n.Hosts() {
		out, err := h.Command("sh", "-c", "uname -n; ls /sys/class/net; cat /sys/class/net/eth0/address /sys/class/net/eth0/mtu").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, []string{h.Name(), "eth0", "lo", "02:00:00:00:00:0" + string(rune('0'+i)), "1400"}, strings.Fields(string(out)))
	}
}

// awful does everything to frames that a path can do. Still TCP must lose no byte over it.
var awful = emulate.Path{
	Delay: 500 * time.Microsecond, Jitter: 400 * time.Microsecond, Loss: emulate.Bursts(0.01, 2),
	Reorder: 0.05, ReorderBy: 300 * time.Microsecond, Duplicate: 0.05, Corrupt: 0.01,
}

func TestDataArrivesWhatever(t *testing.T) {
	n, end := build(t, network.Config{Hosts: 3, Link: emulate.Link{NIC: emulate.NIC{Rate: 200 * emulate.Mbit}, Path: awful}, Seed: 1})
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {2, 0}} {
		near, far := connect(t, n.Host(pair[0]), n.Host(pair[1]))
		transfer(t, near, far, 1<<20)
		transfer(t, far, near, 1<<20)
	}
	r := end()
	for what, count := range map[string]uint64{
		"lost": r.Total.Lost, "reordered": r.Total.Reordered, "duplicated": r.Total.Duplicated, "corrupted": r.Total.Corrupted,
	} {
		assert.NotZero(t, count, what)
	}
	assert.Len(t, r.Paths(), 6)
	assert.Zero(t, r.Wire.Stray)
}

// Bulk data is where a kernel likes to make frames of 64 KB without a checksum.
func TestFramesAreAsOnAWire(t *testing.T) {
	for _, mtu := range []int{576, 1500, 9000} {
		n, end := build(t, network.Config{Hosts: 2, MTU: mtu})
		near, far := connect(t, n.Host(0), n.Host(1))
		transfer(t, near, far, 8<<20)
		r := end()
		assert.Zero(t, r.Wire.Oversize, "MTU %d", mtu)
		assert.LessOrEqual(t, r.Total.SentBytes, r.Total.Sent*uint64(mtu+emulate.EthernetHeader))
		assert.GreaterOrEqual(t, r.Total.Sent, uint64(8<<20/mtu))
	}
}

func TestDamagedFramesAreFoundOut(t *testing.T) {
	const frames = 200
	n, end := build(t, network.Config{Hosts: 2, Between: func(from, _ int) emulate.Path {
		if from == 0 {
			return emulate.Path{Corrupt: 1}
		}
		return emulate.Path{}
	}})
	from, to := datagrams(t, n.Host(0)), datagrams(t, n.Host(1))
	for range frames {
		_, err := from.WriteTo(make([]byte, 1000), to.LocalAddr())
		require.NoError(t, err)
	}
	// The host's kernel finds out when it looks at a frame's header, or when somebody
	// reads the datagram.
	deadline := time.Now().Add(watchdog)
	for found := 0; found < frames; found = refused(t, n.Host(1)) {
		require.True(t, time.Now().Before(deadline), "%d of %d frames were refused", found, frames)
		require.NoError(t, to.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		_, _, err := to.ReadFrom(make([]byte, 2000))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a datagram got through although a bit was flipped")
	}
	assert.Equal(t, uint64(frames), end().Total.Corrupted)
}

func TestDelayIsNoShorterThanAsked(t *testing.T) {
	const delay = 20 * time.Millisecond
	n, _ := build(t, network.Config{Hosts: 2, Link: delayed(delay)})
	near, far := connect(t, n.Host(0), n.Host(1))
	for range 5 {
		start := time.Now()
		transfer(t, near, far, 1)
		require.GreaterOrEqual(t, time.Since(start), delay)
	}
}

func TestRateIsNoHigherThanAsked(t *testing.T) {
	const rate, size = 50 * emulate.Mbit, 1 << 20
	n, end := build(t, network.Config{Hosts: 2, Link: emulate.Link{NIC: emulate.NIC{Rate: rate, Queue: emulate.Queue{Frames: 20}}}})
	near, far := connect(t, n.Host(0), n.Host(1))
	start := time.Now()
	transfer(t, near, far, size)
	require.GreaterOrEqual(t, time.Since(start), time.Duration(float64(size)*8/float64(rate)*1e9))
	assert.NotZero(t, end().Total.DroppedOut, "a queue of 20 frames")
}

func TestBroadcastsGoNowhere(t *testing.T) {
	n, end := build(t, network.Config{Hosts: 2})
	c := datagrams(t, n.Host(0))
	// Go lets its sockets send broadcasts.
	_, err := c.WriteTo([]byte("anybody?"), &net.UDPAddr{IP: net.IPv4(10, 66, 255, 255), Port: 9})
	require.NoError(t, err)
	near, far := connect(t, n.Host(0), n.Host(1)) // behind it, by the same ring
	transfer(t, near, far, 1)
	assert.Equal(t, uint64(1), end().Wire.Stray)
}

// Frames that pass by allocate nothing in this process.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	n, _ := build(t, network.Config{Hosts: 2, Link: delayed(100 * time.Microsecond)})
	near, far := connect(t, n.Host(0), n.Host(1))
	buf := make([]byte, 60_000)
	there := func() {
		_, err := near.Write(buf)
		require.NoError(t, err)
		for got := 0; got < len(buf); {
			k, err := far.Read(buf[got:])
			require.NoError(t, err)
			got += k
		}
	}
	transfer(t, near, far, 8<<20) // by now all has been allocated
	require.Zero(t, testing.AllocsPerRun(100, there))
}

func TestBadConfigs(t *testing.T) {
	for want, c := range map[string]network.Config{
		"MTU of 100 bytes: want 576 to 65535": {Hosts: 2, MTU: 100},
		"network of 0 hosts: want 1 to 256":   {},
		"network of 300 hosts":                {Hosts: 300},
		"loss: good 1.2":                      {Hosts: 2, Link: emulate.Link{Path: emulate.Path{Loss: emulate.Independent(1.2)}}},
	} {
		_, err := network.New(c)
		assert.ErrorContains(t, err, want)
	}
}

// Who is not the superuser gets networks in a user namespace.
func TestWithoutTheSuperuser(t *testing.T) {
	need.Users(t)
	testnet.New(t)
	const nobody = 65534
	cmd := netspace.Bind(exec.Command("/proc/self/exe", "-test.run=^(TestDataArrivesWhatever|TestFramesAreAsOnAWire|TestHosts.*)$", "-test.v"))
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	need.That(t, !strings.Contains(string(out), "--- SKIP"), "needs user namespaces: %s", out)
	assert.Equal(t, 3, strings.Count(string(out), "\n--- PASS"), "%s", out)
}
