//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the library encodes is read back, families mixed.
func TestAddressesBothWays(t *testing.T) {
	addrs := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::2"), netip.MustParseAddr("::ffff:10.0.0.3")}
	b, err := new(Socket).encode(addrs, 4711)
	require.NoError(t, err)
	assert.Len(t, b, 2*sizeInet+sizeInet6)
	got, err := parseSockaddrs(b, 3)
	require.NoError(t, err)
	assert.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:4711"), netip.MustParseAddrPort("[fd00::2]:4711"), netip.MustParseAddrPort("10.0.0.3:4711")}, got)

	_, err = parseSockaddrs(b, 4)
	assert.ErrorContains(t, err, "names 4, of which 3 can be read")
	_, err = parseSockaddrs(b, 1<<30)
	assert.Error(t, err)
	_, err = (&Socket{inet: true}).encode(addrs, 1)
	assert.ErrorContains(t, err, "fd00::2")
	_, err = new(Socket).encode(nil, 1)
	assert.Error(t, err)
	_, err = new(Socket).encode([]netip.Addr{{}}, 1)
	assert.Error(t, err)
}

func FuzzSockaddrs(f *testing.F) {
	b, err := new(Socket).encode([]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::2%1")}, 4711)
	require.NoError(f, err)
	f.Add(b, 2)
	f.Fuzz(func(t *testing.T, b []byte, count int) {
		got, err := parseSockaddrs(b, count)
		if err == nil && len(got) > len(b)/sizeInet {
			t.Fatal("addresses out of nothing")
		}
	})
}

// Where there is no SCTP the error says what the kernel answered and what to do.
func TestCheckExplains(t *testing.T) {
	if err := Check(); err != nil {
		assert.ErrorContains(t, err, "no kernel SCTP: socket: socket type not supported (load the kernel's module: modprobe sctp")
		assert.ErrorContains(t, err, "btl_sctp_stack=user")
		_, openErr := Open(Options{})
		assert.Equal(t, err, openErr)
	}
}
