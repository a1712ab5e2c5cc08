package payload

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// Memory in pieces is what it would be in one, whichever bytes are asked for.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawContent(t)
		m := drawPieces(t, all)
		require.EqualValues(t, len(all), m.Size())
		require.Zero(t, m.From(uint64(len(all)+10)).Size())
		offset := rapid.IntRange(0, len(all)).Draw(t, "offset")
		rest := m.From(uint64(offset))
		require.EqualValues(t, len(all)-offset, rest.Size())

		n := rapid.IntRange(0, len(all)+10).Draw(t, "n")
		packed := make([]byte, n)
		rest.Pack(packed)
		most := min(n, len(all)-offset)
		require.True(t, bytes.Equal(all[offset:offset+most], packed[:most]))
		require.True(t, bytes.Equal(make([]byte, n-most), packed[most:]))

		rest.Unpack(bytes.Repeat([]byte{0xEE}, n))
		require.Equal(t, most, bytes.Count(all, []byte{0xEE}))
		require.Equal(t, most, bytes.Count(all[offset:offset+most], []byte{0xEE}))
	})
}

// TakeIn leaves what Unpack does, at the lengths around those at which it turns.
func TestTakeIn(t *testing.T) {
	for _, n := range []int{0, 1, backwards - 1, backwards, backwards + 1, 2 * backwards, 2*backwards + 1, 5*backwards - 1} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i*7 + 1)
		}
		for _, size := range []int{0, n / 2, max(n-1, 0), n, n + 1, n + backwards} {
			want, got := make([]byte, size), make([]byte, size)
			Memory{First: want}.Unpack(data)
			(&Memory{First: got}).TakeIn(data)
			require.Equal(t, want, got, "%d bytes into %d", n, size)
			clear(got)
			(&Memory{First: got[:size/3], More: [][]byte{got[size/3:]}}).TakeIn(data)
			require.Equal(t, want, got, "%d bytes into %d in two pieces", n, size)
		}
	}
}

// A part of a frame shows its bytes of the frame's payload, without a copy.
func TestPartShowsItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawContent(t)
		var whole, part btl.Frame
		drawPieces(t, all).Show(&whole, nil, 0, uint64(len(all)))
		at := rapid.IntRange(0, len(all)).Draw(t, "at")
		n := rapid.IntRange(0, len(all)-at).Draw(t, "n")
		Memory{First: whole.Payload, More: whole.More}.Show(&part, nil, uint64(at), uint64(n))
		require.Equal(t, n, part.Size)
		part.Pieces(0, func(piece []byte) bool {
			require.Same(t, &all[at], &piece[0], "it is a copy")
			at, n = at+len(piece), n-len(piece)
			return true
		})
		require.Zero(t, n)
	})
}

// drawPieces cuts content into pieces of any size, empty ones among them.
func drawPieces(t *rapid.T, content []byte) Memory {
	var pieces [][]byte
	for at := 0; at < len(content) || rapid.IntRange(0, 3).Draw(t, "empty") == 0; {
		n := rapid.IntRange(0, len(content)-at).Draw(t, "piece")
		pieces = append(pieces, content[at:at+n:at+n])
		at += n
	}
	if len(pieces) == 0 {
		return Memory{}
	}
	return Memory{First: pieces[0], More: pieces[1:]}
}

func drawContent(t *rapid.T) []byte {
	b := make([]byte, rapid.IntRange(0, 60).Draw(t, "size"))
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}
