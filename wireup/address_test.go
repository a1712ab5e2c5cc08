package wireup

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/wirepage"
	"github.com/strandmp/strand/reach"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["ADDRESS"], headSize)
	assert.Equal(t, page["INTERFACE"], interfaceSize)

	text := wirepage.Text(t)
	assert.Contains(t, text, fmt.Sprintf("at most %d bytes together", MaxSize))
	assert.Contains(t, text, fmt.Sprintf("| number of interfaces, at most %d |", MaxInterfaces))
	assert.Contains(t, text, fmt.Sprintf("| number of its addresses; of all interfaces at most %d |", MaxInterfaces))
	assert.Contains(t, text, fmt.Sprintf("| length of the host name, at most %d |", maxHost))
	assert.Contains(t, text, fmt.Sprintf("| length of the interface's name, at most %d |", maxIfName))
	assert.Contains(t, text, fmt.Sprintf("| %d + length of the subnet's prefix in bits |", family4))
	var flags []string
	for f := reach.Flags(1); f.Valid(); f <<= 1 {
		flags = append(flags, fmt.Sprint(uint8(f), " ", f))
	}
	assert.Contains(t, text, "| flags: "+strings.Join(flags, ", ")+" |")
}

func sampleAddress() *Address {
	return &Address{
		Port: 59822, Network: reach.Network{1, 2, 3}, Host: "node-7",
		Interfaces: []reach.Address{
			{Prefix: netip.MustParsePrefix("10.8.47.1/24"), Index: 2, Speed: 1000, Interface: "eth0"},
			{Prefix: netip.MustParsePrefix("fd00::1/64"), Index: 2, Device: 7, Speed: 1000, Interface: "eth0"},
			{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Index: 1, Interface: "lo", Flags: reach.Loopback},
		},
	}
}

func TestAddressRoundTrip(t *testing.T) {
	a := sampleAddress()
	got, err := Decode(a.Encode())
	require.NoError(t, err)
	require.Equal(t, a, got)
}

func TestNamesAreCut(t *testing.T) {
	a := &Address{Port: 1, Host: strings.Repeat("h", 300), Interfaces: []reach.Address{
		{Prefix: netip.MustParsePrefix("fd00::1/64"), Interface: strings.Repeat("n", 20)}}}
	got, err := Decode(a.Encode())
	require.NoError(t, err)
	require.Len(t, got.Host, maxHost)
	require.Len(t, got.Interfaces[0].Interface, maxIfName)
}

// Every prefix of an address, and every address with a byte too many, is
// refused.
func TestAddressCutOff(t *testing.T) {
	b := sampleAddress().Encode()
	for n := range b {
		_, err := Decode(b[:n])
		require.ErrorIs(t, err, ErrAddress, "%d of %d bytes", n, len(b))
	}
	_, err := Decode(append(b, 0))
	require.ErrorIs(t, err, ErrAddress)
}

func TestAddressRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"version", func(b []byte) { b[0] = 1 }, "version 1"},
		{"count", func(b []byte) { b[1] = 65 }, "at most 64"},
		{"port", func(b []byte) { b[2], b[3] = 0, 0 }, "port 0"},
		{"host", func(b []byte) { b[20] = 65 }, "host name of 65 bytes"},
		// From byte 27 on: flags, 1 address, 4 letters, eth0, index 2, device 0, speed 1000 in
		// two bytes, 192 + 24, 10.8.47.1; then 3 bytes and eth0 again, 2, 7, 1000, 64, a mask.
		{"flags", func(b []byte) { b[27] = 32 }, "interface flags 0x20"},
		{"addresses", func(b []byte) { b[28] = 65 }, "more than 64 addresses"},
		{"name", func(b []byte) { b[29] = 16 }, "at most 15"},
		{"index", func(b []byte) { copy(b[34:], []byte{0xff, 0xff, 0xff, 0xff, 0x7f}) }, "out of range"},
		{"endless number", func(b []byte) { copy(b[34:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") }, "out of range"},
		{"prefix", func(b []byte) { b[38] = 192 + 33 }, "10.8.47.1/33"},
		{"prefix of IPv6", func(b []byte) { b[54] = 129 }, "fd00::1/129"},
		{"multicast", func(b []byte) { b[39] = 224 }, "not the address of an interface"},
		{"unspecified", func(b []byte) { copy(b[39:], []byte{0, 0, 0, 0}) }, "not the address of an interface"},
		{"mapped", func(b []byte) { copy(b[55:], []byte{0, 12, 0xff, 0xff}) }, "not the address of an interface"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := sampleAddress().Encode()
			test.change(b)
			_, err := Decode(b)
			require.ErrorIs(t, err, ErrAddress)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzAddress(f *testing.F) {
	f.Add(sampleAddress().Encode())
	f.Add((&Address{Port: 1}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(a.Encode())
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v became %+v: %v", a, again, err)
		}
	})
}
