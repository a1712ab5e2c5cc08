package userstack

import (
	"math/bits"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A message has a copy of what is sent, until the peer has confirmed it.
type message struct {
	stream.Message
	piece [1][]byte // what Pieces is
	next  *message  // in the pool
}

// A pool keeps messages that were confirmed, by the size of their memory.
type pool struct {
	free  [classes]*message
	bytes int
}

const (
	leastClass = 8 // the smallest memory is 256 bytes,
	classes    = 14
	// mostKept bounds the memory that nobody uses.
	mostKept = 8 << 20
)

// class is that of messages of so many bytes.
func class(n int) int { return max(bits.Len(uint(n-1))-leastClass, 0) }

// fill returns a message with a copy of a head and a frame's payload.
func (p *pool) fill(head []byte, f *btl.Frame) *message {
	size := len(head)
	if f != nil {
		size += f.Size
	}
	m := p.get(size)
	copy(m.piece[0], head)
	if f != nil {
		f.CopyPayload(m.piece[0][len(head):])
	}
	return m
}

func (p *pool) get(size int) *message {
	c := class(size)
	var m *message
	if c < classes && p.free[c] != nil {
		m = p.free[c]
		p.free[c], m.next = m.next, nil
		p.bytes -= cap(m.piece[0])
	} else {
		m = new(message)
		m.Owner = m
		m.piece[0] = make([]byte, 0, max(1<<(c+leastClass), size))
		m.Pieces = m.piece[:]
	}
	m.piece[0] = m.piece[0][:size]
	m.Size = size
	return m
}

func (p *pool) put(m *message) {
	memory := cap(m.piece[0])
	c := class(memory)
	if c >= classes || p.bytes+memory > mostKept {
		return
	}
	p.bytes += memory
	m.next, p.free[c] = p.free[c], m
}
