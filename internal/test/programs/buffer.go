package programs

import (
	"bytes"
	"math/rand/v2"
)

// A buffer is memory lent to the library, which gives itself away when it was
// written to at the wrong time or in the wrong place.
type buffer struct {
	memory []byte
	pieces [][]byte // the same, for a vector; nil: in one piece
	mark   byte     // what untouched memory holds
	lent   bool     // to a send that is not waited for: nobody is told when it ends
}

const (
	beforeUse = 0xA5
	afterUse  = 0x5A
)

// newBuffer makes a buffer of n bytes, in one piece or in several.
func newBuffer(n int, vector bool, r *rand.Rand) *buffer {
	b := &buffer{memory: make([]byte, n), mark: beforeUse}
	paint(b.memory, beforeUse)
	if !vector {
		return b
	}
	rest := b.memory
	for range r.IntN(6) {
		k := r.IntN(len(rest) + 1)
		b.pieces = append(b.pieces, rest[:k:k])
		rest = rest[k:]
	}
	b.pieces = append(b.pieces, rest)
	return b
}

func paint(b []byte, mark byte) {
	if len(b) == 0 {
		return
	}
	b[0] = mark
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// untouched returns the first place from offset on that was written to, or −1.
func (b *buffer) untouched(offset int) int {
	rest := b.memory[offset:]
	for i := 0; i < len(rest); i += len(marks[0]) {
		part := rest[i:min(i+len(marks[0]), len(rest))]
		if bytes.Equal(part, marks[b.mark&1][:len(part)]) {
			continue
		}
		for j, c := range part {
			if c != b.mark {
				return offset + i + j
			}
		}
	}
	return -1
}

// spoil overwrites the whole buffer, which is the program's again.
func (b *buffer) spoil() {
	b.mark = afterUse
	paint(b.memory, afterUse)
}

// marks are untouched memory of either kind, to compare with.
var marks = func() (m [2][512]byte) {
	paint(m[afterUse&1][:], afterUse)
	paint(m[beforeUse&1][:], beforeUse)
	return m
}()
