package userstack

import (
	"math/bits"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A message has a copy of what is sent, or of its head alone and the frame that it came with, until the peer has confirmed it.
type message struct {
	stream.Message
	memory     []byte     // of the copy
	frame      *btl.Frame // that is lent; nil: none is
	prev, next *message   // among those with a frame; next in the pool, too
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
	b := append(m.memory[:0], head...)[:size]
	if f != nil {
		f.CopyPayload(b[len(head):])
	}
	m.Pieces, m.Size = append(m.Pieces[:0], b), size
	return m
}

const (
	// copied is the length of a message up to which a copy is made: the sender's buffer is free at once then.
	copied = 16 << 10
	// lentPieces is how many a frame that is lent has at most, beside the first. Each packet looks for its own among them.
	lentPieces = 4
)

// lends reports whether a frame is lent rather than copied.
func lends(f *btl.Frame) bool { return f != nil && f.Size > copied && len(f.More) <= lentPieces }

// borrow returns a message with a copy of a head, and the frame itself.
func (p *pool) borrow(head []byte, f *btl.Frame) *message {
	m := p.get(len(head))
	m.Pieces = append(append(m.Pieces[:0], append(m.memory[:0], head...), f.Payload), f.More...)
	m.Size, m.frame = len(head)+f.Size, f
	return m
}

// keep has a message do without its frame, by a copy of it.
func (m *message) keep() {
	b := make([]byte, m.frame.Size)
	m.frame.CopyPayload(b)
	head := m.Pieces[0]
	clear(m.Pieces)
	m.Pieces, m.frame = append(m.Pieces[:0], head, b), nil
}

// A loan is the messages with frames that are lent.
type loan struct{ first *message }

func (l *loan) add(m *message) {
	m.prev, m.next = nil, l.first
	if l.first != nil {
		l.first.prev = m
	}
	l.first = m
}

func (l *loan) remove(m *message) {
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		l.first = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	}
	m.prev, m.next = nil, nil
}

func (p *pool) get(size int) *message {
	c := class(size)
	if c < classes && p.free[c] != nil {
		m := p.free[c]
		p.free[c], m.next = m.next, nil
		p.bytes -= cap(m.memory)
		return m
	}
	m := &message{memory: make([]byte, 0, max(1<<(c+leastClass), size))}
	m.Owner = m
	return m
}

func (p *pool) put(m *message) {
	memory := cap(m.memory)
	c := class(memory)
	if c >= classes || p.bytes+memory > mostKept {
		return
	}
	clear(m.Pieces) // some are not ours
	p.bytes += memory
	m.next, p.free[c] = p.free[c], m
}
