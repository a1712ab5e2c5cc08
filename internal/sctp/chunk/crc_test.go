package chunk

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checksum is that of the library, whatever the length of a packet, and wherever it lies.
func TestChecksumIsThatOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 70_000)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	for n := range 10_000 {
		from := n % 9
		require.Equal(t, crc32.Checksum(b[from:from+n], castagnoli), crc(b[from:from+n]), "%d bytes from %d", n, from)
	}
	require.Equal(t, crc32.Checksum(b, castagnoli), crc(b))
}

func BenchmarkChecksum(b *testing.B) {
	packet := make([]byte, 1400)
	b.SetBytes(int64(len(packet)))
	for b.Loop() {
		Checksum(packet)
	}
}

func BenchmarkChecksumOfTheLibrary(b *testing.B) {
	packet := make([]byte, 1400)
	b.SetBytes(int64(len(packet)))
	for b.Loop() {
		crc32.Checksum(packet, castagnoli)
	}
}
