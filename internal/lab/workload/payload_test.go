package workload

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every flipped bit but those of the number is found, and so is a wrong length.
func TestDamageIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(numberBytes, 5000).Draw(t, "size")
		p := newPayload(size)
		number := rapid.Uint64().Draw(t, "number")
		message := append(binary.LittleEndian.AppendUint64(nil, number), p.window(number)...)
		got, err := p.check(message)
		require.NoError(t, err)
		require.Equal(t, number, got)
		_, err = p.check(message[:size-1])
		require.ErrorContains(t, err, "were sent")
		if size == numberBytes {
			return
		}
		at := rapid.IntRange(numberBytes, size-1).Draw(t, "byte")
		message[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err = p.check(message)
		require.ErrorContains(t, err, "is damaged at byte")
	})
}
