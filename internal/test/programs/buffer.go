package programs

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/calls"
)

// A form is how the memory of a message lies.
type form uint8

const (
	whole     form = iota // in one piece
	vector                // in several pieces that the call is given
	scattered             // as a layout picks it
)

// A buffer is memory lent to the library, which gives itself away when it was
// written to at the wrong time or in the wrong place.
type buffer struct {
	form   form
	size   int            // of a message that it has room for
	memory []byte         // all of it; if it is scattered, with what lies between
	pieces [][]byte       // the same, for a vector
	view   strand.View    // of some of it, if it is scattered
	blocks []strand.Block // which these are, in the order of the message
	mark   byte           // what untouched memory holds
	lent   bool           // to a send that is not waited for: nobody is told when it ends
}

const (
	beforeUse = 0xA5
	afterUse  = 0x5A
)

// newBuffer makes a buffer for n bytes.
func newBuffer(n int, f form, r *rand.Rand) *buffer {
	b := &buffer{form: f, size: n, mark: beforeUse}
	length := n
	var l strand.Layout[byte]
	if f == scattered {
		l, b.blocks, length = calls.DrawLayout[byte](r, n)
	}
	b.memory = make([]byte, length)
	paint(b.memory, beforeUse)
	switch f {
	case scattered:
		b.view = l.Of(b.memory)
	case vector:
		b.cut(r)
	}
	return b
}

// cut makes the pieces of a vector.
func (b *buffer) cut(r *rand.Rand) {
	rest := b.memory
	for range r.IntN(6) {
		k := r.IntN(len(rest) + 1)
		b.pieces = append(b.pieces, rest[:k:k])
		rest = rest[k:]
	}
	b.pieces = append(b.pieces, rest)
}

// content is the first n bytes of the message that the buffer has.
func (b *buffer) content(n int) []byte {
	if b.form != scattered {
		return b.memory[:n]
	}
	return calls.Collect(make([]byte, 0, n), b.memory, b.blocks, n)
}

// fill has the buffer be that of a message.
func (b *buffer) fill(m *message, seed uint64) {
	if b.form != scattered {
		m.fill(b.memory, seed)
		return
	}
	content := make([]byte, b.size)
	m.fill(content, seed)
	calls.Scatter(b.memory, b.blocks, content)
}

func (b *buffer) irecv(c *strand.Comm, source, tag int) (strand.Request, error) {
	switch b.form {
	case vector:
		return c.IrecvV(b.pieces, source, tag)
	case scattered:
		return c.IrecvView(b.view, source, tag)
	}
	return c.Irecv(b.memory, source, tag)
}

func (b *buffer) recv(ctx context.Context, c *strand.Comm, source, tag int) (strand.Status, error) {
	switch b.form {
	case vector:
		return c.RecvV(ctx, b.pieces, source, tag)
	case scattered:
		return c.RecvView(ctx, b.view, source, tag)
	}
	return c.Recv(ctx, b.memory, source, tag)
}

// take receives a message that a matched probe has taken.
func (b *buffer) take(ctx context.Context, m *strand.Message) (strand.Status, error) {
	switch b.form {
	case vector:
		return m.RecvV(ctx, b.pieces)
	case scattered:
		return m.RecvView(ctx, b.view)
	}
	return m.Recv(ctx, b.memory)
}

// itake starts what take does.
func (b *buffer) itake(m *strand.Message) (strand.Request, error) {
	switch b.form {
	case vector:
		return m.IrecvV(b.pieces)
	case scattered:
		return m.IrecvView(b.view)
	}
	return m.Irecv(b.memory)
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

// untouched returns the first place in memory that was written to, or −1. The first bytes of
// the message, as many as offset says, do not count.
func (b *buffer) untouched(offset int) int {
	if b.form != scattered {
		return unmarked(b.memory, offset, b.mark)
	}
	if offset == 0 {
		return unmarked(b.memory, 0, b.mark)
	}
	rest, marked := slices.Clone(b.memory), make([]byte, offset)
	paint(marked, b.mark)
	calls.Scatter(rest, b.blocks, marked)
	return unmarked(rest, 0, b.mark)
}

func unmarked(b []byte, offset int, mark byte) int {
	rest := b[offset:]
	for i := 0; i < len(rest); i += len(marks[0]) {
		part := rest[i:min(i+len(marks[0]), len(rest))]
		if bytes.Equal(part, marks[mark&1][:len(part)]) {
			continue
		}
		for j, c := range part {
			if c != mark {
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
