package reach

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSide(t, 7, 1)
		for i := range s.Addresses {
			a := &s.Addresses[i]
			a.Interface = rapid.StringMatching(`[a-z0-9.@ü]{0,15}`).Draw(t, "name")
			a.Device = rapid.IntRange(0, 1<<31-1).Draw(t, "device")
			a.Flags = Flags(rapid.IntRange(0, int(allFlags)).Draw(t, "flags"))
		}
		text, err := s.MarshalText()
		require.NoError(t, err)
		require.True(t, IsText(string(text)))
		require.Regexp(t, "^reach:[A-Za-z0-9_-]+$", string(text))
		var back Side
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, s, back)
	})
}

func TestTextNames(t *testing.T) {
	s := host(1, "eth\x1b[0 10.0.0.1/24", strings.Repeat("ü", 40)+" 10.0.0.2/24")
	text, err := s.MarshalText()
	require.NoError(t, err)
	var back Side
	require.NoError(t, back.UnmarshalText(text))
	assert.Equal(t, "eth?[0", back.Addresses[0].Interface)
	assert.Equal(t, strings.Repeat("ü", 31), back.Addresses[1].Interface)
	_, err = Side{Addresses: make([]Address, 1)}.MarshalText()
	require.ErrorContains(t, err, "is not an address with a prefix length")
	_, err = Side{Addresses: make([]Address, 256)}.MarshalText()
	require.ErrorContains(t, err, "256 addresses, at most 255")
}

func TestTextMistakes(t *testing.T) {
	good, err := host(1, "eth0 10.0.0.1/24 1000").MarshalText()
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(string(good), textPrefix))
	require.NoError(t, err)
	changed := func(at int, value byte) string {
		b := append([]byte(nil), raw...)
		b[at] = value
		return textPrefix + base64.RawURLEncoding.EncodeToString(b)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "does not begin with"},
		{"a host name", "node7", "does not begin with"},
		{"nothing in it", "reach:", "cut off after 0 bytes"},
		{"not base64", "reach:####", "illegal base64"},
		{"cut off", string(good[:len(good)-4]), "cut off in an address"},
		{"cut off early", string(good[:40]), "cut off in an address"},
		{"too long", string(good) + "AAAA", "3 bytes too many"},
		{"much too long", "reach:" + strings.Repeat("A", mostText), "at most 65536 are allowed"},
		{"version", changed(0, 9), "version 9, this is version 1"},
		{"family", changed(sideHead, 5), "address family 5"},
		{"mask", changed(sideHead+1, 33), "10.0.0.1/33 is not the address of an interface"},
		{"flags", changed(sideHead+2, 0x80), "flags 0x80"},
		{"a number", changed(sideHead+7, 0xff), "out of range"},
		{"multicast", changed(sideHead+16, 224), "224.0.0.1/24 is not"},
		{"control characters", changed(sideHead+20, 0x1b), `interface "\x1bth0"`},
	} {
		var s Side
		err := s.UnmarshalText([]byte(tc.text))
		require.ErrorIs(t, err, ErrText, tc.name)
		assert.ErrorContains(t, err, tc.want, tc.name)
		assert.Empty(t, s, tc.name)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []Side{{}, host(1, loopback4, "eth0 10.0.0.1/24 1000"), host(2, "eth0 fe80::1/64", "eth0 2001:db8::1/128 no-carrier")} {
		text, err := s.MarshalText()
		require.NoError(f, err)
		f.Add(text)
		f.Add(append(text[:len(text)/2:len(text)/2], append([]byte("\r\n"), text[len(text)/2:]...)...))
	}
	ours := host(3, loopback4, "eth0 10.0.0.9/24 1000", "eth1 fd00::9/64")
	lookup := onLink(ours)
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Side
		if s.UnmarshalText(text) != nil {
			return
		}
		again, err := s.MarshalText()
		if err != nil || string(again) != strings.NewReplacer("\r", "", "\n", "").Replace(string(text)) {
			t.Fatalf("%s is written as %s: %v", text, again, err)
		}
		for _, p := range []Policy{weighted, RoutePolicy(lookup)} {
			r := Match(ours, s, p)
			if len(r.Pairs)+len(r.Rejected) != len(ours.Addresses)*len(s.Addresses) {
				t.Fatalf("pairs are missing: %s", r.Table())
			}
			for _, pair := range r.Pairs {
				if _, own := ours.holds(pair.Remote.Addr()); own && !pair.Loopback {
					t.Fatalf("%v", pair)
				}
			}
		}
	})
}
