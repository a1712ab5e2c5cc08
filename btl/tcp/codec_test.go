package tcp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

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
