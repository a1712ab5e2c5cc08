package framing

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

func TestPrefix(t *testing.T) {
	var b [PrefixSize]byte
	want := Prefix{Payload: 1 << 20, Header: 40}
	want.Put(b[:])
	require.Equal(t, [PrefixSize]byte{0, 0, 0x10, 0, 40, kindData, 0, 0}, b)
	got, err := ParsePrefix(b[:], 1<<20)
	require.NoError(t, err)
	require.Equal(t, want, got)

	want = Prefix{Payload: 5, Header: 2, Filling: Filling{3, MaxFill}}
	want.Put(b[:])
	require.Equal(t, [PrefixSize]byte{5, 0, 0, 0, 2, kindData, 3, 63}, b)
	got, err = ParsePrefix(b[:], 5)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, PrefixSize+2+3, got.Head())
	require.Equal(t, PrefixSize+2+3+5+63, got.Size())

	require.Equal(t, []byte{0, 0, 0, 0, 0, kindGoodbye, 0, 0}, AppendGoodbye(nil))
	got, err = ParsePrefix(AppendGoodbye(nil), 0)
	require.NoError(t, err)
	require.Equal(t, Prefix{Goodbye: true}, got)

	for name, test := range map[string]struct {
		b     [PrefixSize]byte
		limit int
		want  string
	}{
		"too long":        {[PrefixSize]byte{1, 4, 0, 0, 1, kindData}, 1024, "announced at most 1024"},
		"no header":       {[PrefixSize]byte{1, 0, 0, 0, 0, kindData}, 1024, "header of 0 bytes"},
		"long header":     {[PrefixSize]byte{0, 0, 0, 0, btl.MaxHeader + 1, kindData}, 1024, "header of 65 bytes"},
		"unknown kind":    {[PrefixSize]byte{0, 0, 0, 0, 1, 7}, 1024, "kind 7"},
		"kind 0":          {[PrefixSize]byte{0, 0, 0, 0, 1, 0}, 1024, "kind 0"},
		"goodbye, header": {[PrefixSize]byte{0, 0, 0, 0, 1, kindGoodbye}, 1024, "goodbye"},
		"goodbye, bytes":  {[PrefixSize]byte{1, 0, 0, 0, 0, kindGoodbye}, 1024, "goodbye"},
		"filled before":   {[PrefixSize]byte{0, 0, 0, 0, 1, kindData, 64, 0}, 1024, "filling of 64 and 0 bytes"},
		"filled behind":   {[PrefixSize]byte{0, 0, 0, 0, 1, kindData, 0, 255}, 1024, "filling of 0 and 255 bytes"},
		"goodbye, filled": {[PrefixSize]byte{0, 0, 0, 0, 0, kindGoodbye, 0, 1}, 1024, "goodbye"},
	} {
		_, err := ParsePrefix(test.b[:], test.limit)
		require.ErrorContains(t, err, test.want, name)
	}
}
