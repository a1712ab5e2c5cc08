package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

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
