package framing

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// A frame that is filled up takes whole lines, and what is filled in for a payload has it lie in a line as in memory. It is 0.
func TestFill(t *testing.T) {
	memory := make([]byte, 64<<10+line)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, MaxFill).Draw(t, "at")
		payload := memory[at:][:rapid.IntRange(0, 64<<10).Draw(t, "payload")]
		p := Prefix{Payload: len(payload), Header: rapid.IntRange(1, btl.MaxHeader).Draw(t, "header"), Filling: Filling{7, 7}}
		long := rapid.Bool().Draw(t, "long")
		if long {
			p.FillFor(payload)
			require.Equal(t, int(uintptr(unsafe.Pointer(unsafe.SliceData(payload)))%line), p.Head()%line)
		} else {
			p.FillUp()
			require.Zero(t, p.Trail)
		}
		require.Zero(t, p.Size()%line)
		require.LessOrEqual(t, int(max(p.Lead, p.Trail)), MaxFill)

		b := bytes.Repeat([]byte{0xee}, p.Head()+10)
		header := bytes.Repeat([]byte{'h'}, p.Header)
		require.Len(t, p.PutHead(b, header), 10)
		got, err := ParsePrefix(b, len(payload))
		require.NoError(t, err)
		require.Equal(t, p, got)
		require.Equal(t, header, b[PrefixSize:][:p.Header])
		require.Equal(t, make([]byte, p.Lead), b[PrefixSize+p.Header:p.Head()])
		require.EqualValues(t, 0xee, b[p.Head()])
	})
}
