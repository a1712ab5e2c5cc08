//go:build linux

package wire

import (
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// buffers keeps the bytes of frames that are on their way. It grows up to a limit
// and never shrinks. Its memory is not the garbage collector's.
type buffers struct {
	size   int // of a buffer
	limit  int // buffers
	chunks [][]byte
	refs   []uint8 // of each buffer, how many times it is to be sent
	free   []emulate.Frame
}

// chunkBytes is what it grows by.
const chunkBytes = 1 << 20

func newBuffers(size, memory int) *buffers {
	perChunk := max(1, chunkBytes/size)
	return &buffers{size: size, limit: max(1, memory/(perChunk*size)) * perChunk}
}

func (b *buffers) perChunk() int { return max(1, chunkBytes/b.size) }

// take returns a buffer that nobody uses, or false if there is none.
func (b *buffers) take() (emulate.Frame, bool) {
	if len(b.free) == 0 && !b.grow() {
		return 0, false
	}
	f := b.free[len(b.free)-1]
	b.free = b.free[:len(b.free)-1]
	return f, true
}

func (b *buffers) grow() bool {
	first, n := len(b.refs), b.perChunk()
	if first+n > b.limit {
		return false
	}
	chunk, err := unix.Mmap(-1, 0, n*b.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return false
	}
	b.chunks = append(b.chunks, chunk)
	b.refs = append(b.refs, make([]uint8, n)...)
	if cap(b.free) < first+n {
		b.free = make([]emulate.Frame, 0, 2*(first+n)) // it was empty
	}
	for i := n - 1; i >= 0; i-- {
		b.free = append(b.free, emulate.Frame(first+i))
	}
	return true
}

// bytes returns a buffer's memory.
func (b *buffers) bytes(f emulate.Frame) []byte {
	n := b.perChunk()
	chunk, at := b.chunks[int(f)/n], int(f)%n*b.size
	return chunk[at : at+b.size : at+b.size]
}

// hold says how many times a buffer must be let go before it is free.
func (b *buffers) hold(f emulate.Frame, times int) {
	b.refs[f] = uint8(times)
	if times == 0 {
		b.free = append(b.free, f)
	}
}

// letGo gives a buffer back once.
func (b *buffers) letGo(f emulate.Frame) { b.hold(f, int(b.refs[f])-1) }

// close returns the memory to the system.
func (b *buffers) close() {
	for _, chunk := range b.chunks {
		_ = unix.Munmap(chunk) // it was mapped
	}
	*b = buffers{}
}
