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
		"reserved":        {[PrefixSize]byte{0, 0, 0, 0, 1, kindData, 0, 1}, 1024, "reserved"},
	} {
		_, err := ParsePrefix(test.b[:], test.limit)
		require.ErrorContains(t, err, test.want, name)
	}
}
