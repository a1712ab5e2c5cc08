package programs

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand"
)

// A message is one that a program sends. Messages of one sender are numbered in
// the order of sending.
type message struct {
	id       int // in the program: later steps have higher ones
	comm     int
	from, to int // ranks of the world
	index    int // among those of this sender to this receiver in this communicator
	ordinal  int // likewise, among those of the same tag; from 1
	tag      int
	size     int
	phase    int
}

// maxIndex bounds the messages of one sender to one receiver in one
// communicator: the first byte of each says which it is.
const maxIndex = 255

func (m *message) String() string {
	return fmt.Sprintf("message %d (%d → %d, comm %d, no. %d, tag %d, %d bytes)", m.id, m.from, m.to, m.comm, m.index, m.tag, m.size)
}

// headSize is the length of the part of a message that says which one it is.
const headSize = 8

// head writes what a message of the program says of itself.
func (m *message) head(seed uint64) (b [headSize]byte) {
	b[0], b[1], b[2], b[3] = byte(m.index), byte(m.comm), byte(m.from), byte(m.to)
	binary.LittleEndian.PutUint32(b[4:], uint32(seed))
	return b
}

// fill writes the message's content.
func (m *message) fill(b []byte, seed uint64) {
	h := m.head(seed)
	x := m.key(seed)
	for n := copy(b, h[:]); n < len(b); {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], mix(x))
		x++
		n += copy(b[n:], word[:])
	}
}

// differs returns the first place where b is not the message's beginning, or −1.
func (m *message) differs(b []byte, seed uint64) int {
	h := m.head(seed)
	for i := range min(len(b), headSize) {
		if b[i] != h[i] {
			return i
		}
	}
	x := m.key(seed)
	for n := headSize; n < len(b); n += 8 {
		word := mix(x)
		x++
		if n+8 <= len(b) && binary.LittleEndian.Uint64(b[n:]) == word {
			continue
		}
		for i := n; i < min(n+8, len(b)); i++ {
			if b[i] != byte(word>>(8*(i-n))) {
				return i
			}
		}
	}
	return -1
}

func (m *message) key(seed uint64) uint64 { return mix(seed ^ uint64(m.id)<<32) }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// A pattern is what a receive or a probe names: a rank of the world or
// AnySource, and a tag or AnyTag.
type pattern struct{ source, tag int }

var anything = pattern{strand.AnySource, strand.AnyTag}

func (p pattern) fits(m *message) bool {
	return (p.source == strand.AnySource || p.source == m.from) && (p.tag == strand.AnyTag || p.tag == m.tag)
}

func (p pattern) String() string {
	source, tag := "any source", "any tag"
	if p.source != strand.AnySource {
		source = fmt.Sprintf("source %d", p.source)
	}
	if p.tag != strand.AnyTag {
		tag = fmt.Sprintf("tag %d", p.tag)
	}
	return source + ", " + tag
}
