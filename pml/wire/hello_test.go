package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/credit"
)

func TestHelloRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Hello{
			Credit: rapid.Uint32Max(credit.Most).Draw(t, "credit"),
			Traits: representation.Traits(rapid.Uint8Max(3).Draw(t, "traits")),
			Host:   rapid.StringN(0, 60, 255).Draw(t, "host"),
		}
		for range rapid.IntRange(0, 5).Draw(t, "modules") {
			h.Modules = append(h.Modules, Module{
				Component: rapid.StringN(0, 20, 40).Draw(t, "component"),
				Address:   rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "address"),
			})
		}
		b, err := h.Encode()
		require.NoError(t, err)
		got, err := DecodeHello(b)
		require.NoError(t, err)
		require.Equal(t, &h, got)
		for n := range b {
			_, err := DecodeHello(b[:n])
			require.Error(t, err, "%d of %d bytes", n, len(b))
		}
	})
}

// What has no room is left out, not an end of everything.
func TestHelloFits(t *testing.T) {
	many := Hello{Host: "h"}
	for i, size := range []int{1300, 1300, 1300, 1300, 100} {
		many.Modules = append(many.Modules, Module{string(rune('a' + i)), make([]byte, size)})
	}
	require.Equal(t, []string{"e", "d"}, many.Fit())
	b, err := many.Encode()
	require.NoError(t, err)
	require.Len(t, b, many.size())
	got, err := DecodeHello(b)
	require.NoError(t, err)
	require.Len(t, got.Modules, 3)
	require.Empty(t, many.Fit())
}

func TestHelloRefuses(t *testing.T) {
	good, err := (&Hello{Credit: 5, Host: "h", Modules: []Module{{"tcp", []byte("address")}}}).Encode()
	require.NoError(t, err)
	change := func(at int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		says string
	}{
		{"nothing", nil, "ends too early"},
		{"other version", change(0, 9), "version 9, not 6: all processes must run the same version"},
		{"a process that does not tell its traits", change(0, 2), "version 2, not 6: all processes must run the same version"},
		{"wild credit", change(4, 0xff), "units of credit"},
		{"unknown traits", change(5, 4), "unknown traits 0x4"},
		{"host longer than the rest", change(6, 255), "ends too early"},
		{"more modules than there are", change(8, 2), "ends too early"},
		{"bytes behind", append(good[:len(good):len(good)], 1, 2), "2 bytes follow its end"},
		{"too long", make([]byte, MaxHello+1), "more than 4096"},
	} {
		_, err := DecodeHello(c.b)
		assert.ErrorContains(t, err, c.says, c.name)
	}
}

func TestHelloOfTooMany(t *testing.T) {
	h := &Hello{Modules: make([]Module, 256)}
	require.Len(t, h.Fit(), 1)

	_, err := (&Hello{Modules: []Module{{strings.Repeat("x", 256), nil}}}).Encode()
	require.ErrorContains(t, err, "name of 256 bytes")
}

// A host name may be longer than a hello has room for; it is for people only.
func TestHelloCutsTheHost(t *testing.T) {
	b, err := (&Hello{Host: strings.Repeat("h", 300)}).Encode()
	require.NoError(t, err)
	h, err := DecodeHello(b)
	require.NoError(t, err)
	assert.Len(t, h.Host, 255)
}

func TestHelloAddress(t *testing.T) {
	h := Hello{Modules: []Module{{"tcp", []byte{1}}, {"udp", nil}}}
	a, found := h.Address("tcp")
	assert.True(t, found)
	assert.Equal(t, []byte{1}, a)
	_, found = h.Address("udp")
	assert.True(t, found, "a transport may need no address")
	_, found = h.Address("sctp")
	assert.False(t, found)
}

// FuzzHello holds that no bytes make the decoder panic, and that what it takes
// is what the encoder would have written.
func FuzzHello(f *testing.F) {
	for _, h := range []Hello{{}, {Credit: credit.Most, Traits: representation.Order, Host: "node", Modules: []Module{{"tcp", []byte("abc")}, {"self", nil}}}} {
		b, err := h.Encode()
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHello(b)
		if err != nil {
			return
		}
		again, err := h.Encode()
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}
