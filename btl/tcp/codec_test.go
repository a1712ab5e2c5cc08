package tcp

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
)

func sampleAddress() *address {
	return &address{
		port: 59822, network: reach.Network{1, 2, 3}, host: "node-7",
		ifaces: []reach.Address{
			{Prefix: netip.MustParsePrefix("10.8.47.1/24"), Index: 2, Speed: 1000, Interface: "eth0"},
			{Prefix: netip.MustParsePrefix("fd00::1/64"), Index: 2, Device: 7, Speed: 1000, Interface: "eth0"},
			{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Index: 1, Interface: "lo", Flags: reach.Loopback},
		},
	}
}

func TestAddressRoundTrip(t *testing.T) {
	a := sampleAddress()
	got, err := decodeAddress(a.encode())
	require.NoError(t, err)
	require.Equal(t, a, got)
}

func TestLargestAddressFits(t *testing.T) {
	a := &address{port: 1, host: strings.Repeat("h", 300)}
	for range maxIfaddrs {
		a.ifaces = append(a.ifaces, reach.Address{Prefix: netip.MustParsePrefix("fd00::1/64"), Interface: strings.Repeat("n", 20)})
	}
	b := a.encode()
	require.LessOrEqual(t, len(b), 4096, "btl.Module's limit")
	got, err := decodeAddress(b)
	require.NoError(t, err)
	require.Len(t, got.host, 255)
	require.Len(t, got.ifaces[63].Interface, maxIfName)
}

// Every prefix of an address, and every address with a byte too many, is
// refused.
func TestAddressCutOff(t *testing.T) {
	b := sampleAddress().encode()
	for n := range b {
		_, err := decodeAddress(b[:n])
		require.ErrorIs(t, err, errAddress, "%d of %d bytes", n, len(b))
	}
	_, err := decodeAddress(append(b, 0))
	require.ErrorIs(t, err, errAddress)
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
		{"flags", func(b []byte) { b[30] = 8 }, "interface flags 0x08"},
		{"device", func(b []byte) { b[38] = 0xff }, "out of range"},
		{"index", func(b []byte) { b[34] = 0xff }, "interface index"},
		{"multicast", func(b []byte) { b[43] = 224 }, "not the address of an interface"},
		{"unspecified", func(b []byte) { copy(b[43:], []byte{0, 0, 0, 0}) }, "not the address of an interface"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := sampleAddress().encode()
			test.change(b)
			_, err := decodeAddress(b)
			require.ErrorIs(t, err, errAddress)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzAddress(f *testing.F) {
	f.Add(sampleAddress().encode())
	f.Add((&address{port: 1}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAddress(b)
		if err != nil {
			return
		}
		again, err := decodeAddress(a.encode())
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v became %+v: %v", a, again, err)
		}
	})
}

func TestGreetingRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := greeting{
			maxFrame: rapid.IntRange(1, maxFrameLimit).Draw(t, "max frame"),
			host:     rapid.StringMatching(`[a-z0-9.-]{0,255}`).Draw(t, "host"),
			hello:    rapid.SliceOfN(rapid.Byte(), 0, maxHello).Draw(t, "hello"),
		}
		got, err := decodeGreeting(g.encode())
		if err != nil || got.maxFrame != g.maxFrame || got.host != g.host || !bytes.Equal(got.hello, g.hello) {
			t.Fatalf("%+v became %+v: %v", g, got, err)
		}
	})
}

func TestGreetingRefused(t *testing.T) {
	good := greeting{maxFrame: 1 << 20, host: "h", hello: []byte("hello")}.encode()
	for n := range greetingHead + 1 {
		_, err := decodeGreeting(good[:n])
		require.ErrorIs(t, err, errGreeting, "%d bytes", n)
	}
	for name, change := range map[string]func(b []byte){
		"no frames":  func(b []byte) { b[0], b[1], b[2], b[3] = 0, 0, 0, 0 },
		"wild frame": func(b []byte) { b[3] = 0xff },
		"reserved":   func(b []byte) { b[5] = 1 },
	} {
		b := bytes.Clone(good)
		change(b)
		_, err := decodeGreeting(b)
		require.ErrorIs(t, err, errGreeting, name)
	}
	_, err := decodeGreeting(greeting{maxFrame: 1, hello: make([]byte, maxHello+1)}.encode())
	require.ErrorIs(t, err, errGreeting)
}

func FuzzGreeting(f *testing.F) {
	f.Add(greeting{maxFrame: 1 << 20, host: "h", hello: []byte("hello")}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decodeGreeting(b)
		if err == nil && (g.maxFrame < 1 || g.maxFrame > maxFrameLimit || len(g.hello) > maxHello || len(g.host) > 255) {
			t.Fatalf("%+v", g)
		}
	})
}

func TestPrefix(t *testing.T) {
	var b [prefixSize]byte
	want := prefix{payload: 1 << 20, header: 40, kind: kindData}
	want.put(b[:])
	require.Equal(t, [prefixSize]byte{0, 0, 0x10, 0, 40, kindData, 0, 0}, b)
	got, err := parsePrefix(b[:], 1<<20)
	require.NoError(t, err)
	require.Equal(t, want, got)

	for name, test := range map[string]struct {
		p     prefix
		limit int
		want  string
	}{
		"too long":        {prefix{payload: 1025, header: 1, kind: kindData}, 1024, "announced at most 1024"},
		"no header":       {prefix{payload: 1, kind: kindData}, 1024, "header of 0 bytes"},
		"long header":     {prefix{header: btl.MaxHeader + 1, kind: kindData}, 1024, "header of 65 bytes"},
		"unknown kind":    {prefix{header: 1, kind: 7}, 1024, "kind 7"},
		"kind 0":          {prefix{header: 1}, 1024, "kind 0"},
		"goodbye, header": {prefix{header: 1, kind: kindGoodbye}, 1024, "goodbye"},
		"goodbye, bytes":  {prefix{payload: 1, kind: kindGoodbye}, 1024, "goodbye"},
	} {
		test.p.put(b[:])
		_, err := parsePrefix(b[:], test.limit)
		require.ErrorContains(t, err, test.want, name)
	}
	want.put(b[:])
	b[7] = 1
	_, err = parsePrefix(b[:], 1<<20)
	require.ErrorContains(t, err, "reserved")
}
