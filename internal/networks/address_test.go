package networks

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/wirepage"
	"github.com/strandmp/strand/reach"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["ADDRESS"], HeadSize)
	assert.Equal(t, page["INTERFACE"], InterfaceSize)
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

func TestLargestAddressFits(t *testing.T) {
	a := &Address{Port: 1, Host: strings.Repeat("h", 300)}
	for range MaxInterfaces {
		a.Interfaces = append(a.Interfaces, reach.Address{Prefix: netip.MustParsePrefix("fd00::1/64"), Interface: strings.Repeat("n", 20)})
	}
	b := a.Encode()
	require.LessOrEqual(t, len(b), 4096, "btl.Module's limit")
	got, err := Decode(b)
	require.NoError(t, err)
	require.Len(t, got.Host, 255)
	require.Len(t, got.Interfaces[63].Interface, maxIfName)
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
		{"family", func(b []byte) { b[27] = 5 }, "family 5"},
		{"prefix", func(b []byte) { b[28] = 33 }, "10.8.47.1/33"},
		{"name", func(b []byte) { b[29] = 16 }, "at most 15"},
		{"flags", func(b []byte) { b[30] = 32 }, "interface flags 0x20"},
		{"device", func(b []byte) { b[38] = 0xff }, "out of range"},
		{"index", func(b []byte) { b[34] = 0xff }, "interface index"},
		{"multicast", func(b []byte) { b[43] = 224 }, "not the address of an interface"},
		{"unspecified", func(b []byte) { copy(b[43:], []byte{0, 0, 0, 0}) }, "not the address of an interface"},
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
