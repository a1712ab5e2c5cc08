package wireup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// greeters are the greetings of a stream, as tcp has them, and of one that tells of its
// streams, as sctp does.
var greeters = []*Config{
	{Own: make([]byte, 2), FrameLimit: 1 << 30},
	{Own: []byte{10, 0, 0}, FrameLimit: 1 << 20, Check: func(own []byte) error {
		if binary.LittleEndian.Uint16(own) == 0 {
			return errors.New("no streams")
		}
		return nil
	}},
}

func TestGreetingRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(greeters).Draw(t, "transport")
		g := Greeting{
			MaxFrame: rapid.IntRange(1, c.FrameLimit).Draw(t, "max frame"),
			Own:      c.Own,
			Host:     rapid.StringMatching(`[a-z0-9.-]{0,255}`).Draw(t, "host"),
			Hello:    rapid.SliceOfN(rapid.Byte(), 0, maxHello).Draw(t, "hello"),
		}
		got, err := c.DecodeGreeting(g.Encode())
		if err != nil || got.MaxFrame != g.MaxFrame || got.Host != g.Host || !bytes.Equal(got.Own, g.Own) || !bytes.Equal(got.Hello, g.Hello) {
			t.Fatalf("%+v became %+v: %v", g, got, err)
		}
	})
}

func TestGreetingRefused(t *testing.T) {
	for _, c := range greeters {
		head := 5 + len(c.Own)
		good := Greeting{MaxFrame: 1 << 20, Own: c.Own, Host: "h", Hello: []byte("hello")}.Encode()
		_, err := c.DecodeGreeting(good)
		require.NoError(t, err)
		for n := range head + 1 {
			_, err := c.DecodeGreeting(good[:n])
			require.ErrorIs(t, err, ErrGreeting, "%d bytes", n)
		}
		for name, change := range map[string]func(b []byte){
			"no frames":  func(b []byte) { b[0], b[1], b[2], b[3] = 0, 0, 0, 0 },
			"wild frame": func(b []byte) { b[3] = 0xff },
			"own":        func(b []byte) { b[4] ^= 10 },
		} {
			b := bytes.Clone(good)
			change(b)
			_, err := c.DecodeGreeting(b)
			require.ErrorIs(t, err, ErrGreeting, name)
		}
		_, err = c.DecodeGreeting(Greeting{MaxFrame: 1, Own: c.Own, Hello: make([]byte, maxHello+1)}.Encode())
		require.ErrorIs(t, err, ErrGreeting)
	}
}

func FuzzGreeting(f *testing.F) {
	for _, c := range greeters {
		f.Add(Greeting{MaxFrame: 1 << 20, Own: c.Own, Host: "h", Hello: []byte("hello")}.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range greeters {
			g, err := c.DecodeGreeting(b)
			if err != nil {
				continue
			}
			if g.MaxFrame < 1 || g.MaxFrame > c.FrameLimit || len(g.Hello) > maxHello || len(g.Host) > 255 {
				t.Fatalf("%+v", g)
			}
			again, err := c.DecodeGreeting(g.Encode())
			if err != nil || again.MaxFrame != g.MaxFrame || !bytes.Equal(again.Own, g.Own) || again.Host != g.Host || !bytes.Equal(again.Hello, g.Hello) {
				t.Fatalf("%+v became %+v: %v", g, again, err)
			}
		}
	})
}
