//go:build linux

package testnet_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/testnet"
)

// Packets are chosen by what they contain, and one of them is lost, or all.
func TestLose(t *testing.T) {
	a, b, l := two(t, testnet.Subnet("10.1.0.0/24"))
	var to *net.UDPConn
	require.NoError(t, b.Do(func() (err error) {
		to, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(l.B.Addr(0), 0)))
		return err
	}))
	defer func() { _ = to.Close() }()
	require.NoError(t, to.SetReadDeadline(time.Now().Add(watchdog)))
	var from net.Conn
	require.NoError(t, a.Do(func() (err error) {
		from, err = net.Dial("udp", to.LocalAddr().String())
		return err
	}))
	defer from.Close()

	const header = 8
	patterns := []testnet.Pattern{
		{{Offset: header, Bytes: []byte("A")}, {Offset: header + 2, Bytes: []byte("ox")}},
		{{Offset: header + 1, Bytes: []byte("Bee")}},
	}
	for _, c := range []struct {
		once           bool
		protocol       byte
		sent, received string
		lost           int
	}{
		{true, testnet.UDP, "an.ox A1ox .Bee A2ox", "an.ox .Bee A2ox", 1},
		{false, testnet.UDP, "an.ox A1ox .Bee A2ox A", "an.ox A", 3},
		{false, testnet.TCP, "A1ox .Bee", "A1ox .Bee", 0},
	} {
		l.B.Lose(c.protocol, c.once, patterns...)
		assert.Equal(t, c.received, over(t, from, to, c.sent))
		assert.Equal(t, c.lost, b.Lost())
	}
	l.B.Lose(testnet.UDP, false)
	assert.Equal(t, "A1ox .Bee", over(t, from, to, "A1ox .Bee"))
	assert.Zero(t, b.Lost())
}

// over sends words, each in a packet of its own, and returns those that come.
func over(t *testing.T, from net.Conn, to *net.UDPConn, words string) string {
	const end = "end"
	for _, word := range append(strings.Fields(words), end) {
		_, err := from.Write([]byte(word))
		require.NoError(t, err)
	}
	var got []string
	for b := make([]byte, 100); ; {
		n, err := to.Read(b)
		require.NoError(t, err)
		if string(b[:n]) == end {
			return strings.Join(got, " ")
		}
		got = append(got, string(b[:n]))
	}
}
