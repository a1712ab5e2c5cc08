package pml

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A buffer in pieces is what it would be in one, whichever bytes are asked for.
func TestBuffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawContent(t)
		m := drawPieces(t, all)
		require.EqualValues(t, len(all), m.size())
		require.Zero(t, m.from(uint64(len(all)+10)).size())
		offset := rapid.IntRange(0, len(all)).Draw(t, "offset")
		rest := m.from(uint64(offset))
		require.EqualValues(t, len(all)-offset, rest.size())

		n := rapid.IntRange(0, len(all)+10).Draw(t, "n")
		packed := make([]byte, n)
		rest.pack(packed)
		most := min(n, len(all)-offset)
		require.True(t, bytes.Equal(all[offset:offset+most], packed[:most]))
		require.True(t, bytes.Equal(make([]byte, n-most), packed[most:]))

		rest.unpack(bytes.Repeat([]byte{0xEE}, n))
		require.Equal(t, most, bytes.Count(all, []byte{0xEE}))
		require.Equal(t, most, bytes.Count(all[offset:offset+most], []byte{0xEE}))
	})
}

// A part of a frame carries its bytes of the frame's payload, without a copy.
func TestPartCarriesItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawContent(t)
		var whole, part txFrame
		whole.carry(drawPieces(t, all), 0, uint64(len(all)))
		at := rapid.IntRange(0, len(all)).Draw(t, "at")
		n := rapid.IntRange(0, len(all)-at).Draw(t, "n")
		part.carry(buffer{whole.Payload, whole.More}, uint64(at), uint64(n))
		require.Equal(t, n, part.Size)
		part.Pieces(0, func(piece []byte) bool {
			require.Same(t, &all[at], &piece[0], "it is a copy")
			at, n = at+len(piece), n-len(piece)
			return true
		})
		require.Zero(t, n)
	})
}
