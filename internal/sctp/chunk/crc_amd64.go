package chunk

import (
	"hash/crc32"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// A processor takes three cycles for the checksum of eight bytes, and may do three at a time that do not wait for each other. So a
// packet is cut into three rows of the same length. What goes before n bytes counts for what it is times x^8n: one multiplication, by a factor for
// each n. The library has factors for rows of 168 and 1344 bytes alone, and what does not fill three of them takes as long as two of those:
// all in all 1400 bytes take it twice as long (Gopal et al., Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction, Intel, 2011).

// crcOfThree goes on with a checksum, which is not inverted, by three rows of so many words, at least one. The factors are those of two rows and of one.
//
//go:noescape
func crcOfThree(crc uint32, p *byte, words int, first, second uint32) uint32

const (
	// mostWords are in a row at once.
	mostWords = 128
	// rowsFrom is how many bytes are worth three rows.
	rowsFrom = 192
)

var (
	hasThree = cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ
	factors  = makeFactors()
)

// makeFactors makes those of n words: x^(64n-33), as the multiplication and the instruction behind it leave the rest. Eight bytes that are zero multiply
// a checksum, which is not inverted, by x^64.
func makeFactors() (f [2*mostWords + 1]uint32) {
	var zero [8]byte
	f[1] = 1 // x^31: the lowest bit has the highest power
	for n := 2; n < len(f); n++ {
		f[n] = ^crc32.Update(^f[n-1], castagnoli, zero[:])
	}
	return f
}

// crc is the CRC32c.
func crc(b []byte) uint32 {
	sum := uint32(0)
	for hasThree && len(b) >= rowsFrom {
		words := min(len(b)/24, mostWords)
		sum = ^crcOfThree(^sum, unsafe.SliceData(b), words, factors[2*words], factors[words])
		b = b[24*words:]
	}
	return crc32.Update(sum, castagnoli, b)
}
