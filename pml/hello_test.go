package pml

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/pml/credit"
)

func TestHelloRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hello{
			credit: rapid.Uint32Max(credit.Most).Draw(t, "credit"),
			host:   rapid.StringN(0, 60, 255).Draw(t, "host"),
		}
		for range rapid.IntRange(0, 5).Draw(t, "modules") {
			h.modules = append(h.modules, moduleAddress{
				component: rapid.StringN(0, 20, 40).Draw(t, "component"),
				address:   rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "address"),
			})
		}
		b, err := encodeHello(&h)
		require.NoError(t, err)
		got, err := decodeHello(b)
		require.NoError(t, err)
		require.Equal(t, &h, got)
		for n := range b {
			_, err := decodeHello(b[:n])
			require.Error(t, err, "%d of %d bytes", n, len(b))
		}
	})
}

// What has no room is left out, not an end of everything.
func TestHelloFits(t *testing.T) {
	many := hello{host: "h"}
	for i, size := range []int{1300, 1300, 1300, 1300, 100} {
		many.modules = append(many.modules, moduleAddress{string(rune('a' + i)), make([]byte, size)})
	}
	require.Equal(t, []string{"e", "d"}, many.fit())
	b, err := encodeHello(&many)
	require.NoError(t, err)
	require.Len(t, b, many.size())
	got, err := decodeHello(b)
	require.NoError(t, err)
	require.Len(t, got.modules, 3)
	require.Empty(t, many.fit())
}

func TestHelloRefuses(t *testing.T) {
	good, err := encodeHello(&hello{credit: 5, host: "h", modules: []moduleAddress{{"tcp", []byte("address")}}})
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
		{"other version", change(0, 9), "version 9, not 1: all processes must run the same version"},
		{"wild credit", change(4, 0xff), "units of credit"},
		{"host longer than the rest", change(5, 255), "ends too early"},
		{"more modules than there are", change(7, 2), "ends too early"},
		{"bytes behind", append(good[:len(good):len(good)], 1, 2), "2 bytes follow its end"},
		{"too long", make([]byte, maxHello+1), "more than 4096"},
	} {
		_, err := decodeHello(c.b)
		assert.ErrorContains(t, err, c.says, c.name)
	}
}

func TestHelloOfTooMany(t *testing.T) {
	h := &hello{modules: make([]moduleAddress, 256)}
	require.Len(t, h.fit(), 1)

	_, err := encodeHello(&hello{modules: []moduleAddress{{strings.Repeat("x", 256), nil}}})
	require.ErrorContains(t, err, "name of 256 bytes")
}

// A host name may be longer than a hello has room for; it is for people only.
func TestHelloCutsTheHost(t *testing.T) {
	b, err := encodeHello(&hello{host: strings.Repeat("h", 300)})
	require.NoError(t, err)
	h, err := decodeHello(b)
	require.NoError(t, err)
	assert.Len(t, h.host, 255)
}

func TestHelloAddress(t *testing.T) {
	h := hello{modules: []moduleAddress{{"tcp", []byte{1}}, {"udp", nil}}}
	a, found := h.address("tcp")
	assert.True(t, found)
	assert.Equal(t, []byte{1}, a)
	_, found = h.address("udp")
	assert.True(t, found, "a transport may need no address")
	_, found = h.address("sctp")
	assert.False(t, found)
}

// FuzzHello holds that no bytes make the decoder panic, and that what it takes
// is what the encoder would have written.
func FuzzHello(f *testing.F) {
	for _, h := range []hello{{}, {credit: credit.Most, host: "node", modules: []moduleAddress{{"tcp", []byte("abc")}, {"self", nil}}}} {
		b, err := encodeHello(&h)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			return
		}
		again, err := encodeHello(h)
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}
