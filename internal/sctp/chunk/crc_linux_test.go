package chunk

import (
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Nothing behind a packet is read: where it ends no memory may be.
func TestChecksumEndsWithThePacket(t *testing.T) {
	page := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()
	require.NoError(t, unix.Mprotect(memory[page:], unix.PROT_NONE))
	for i := range memory[:page] {
		memory[i] = byte(i * i)
	}
	for n := range page + 1 {
		b := memory[page-n : page]
		require.Equal(t, crc32.Checksum(b, castagnoli), crc(b), "%d bytes", n)
	}
}
