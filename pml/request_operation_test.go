package pml

import (
	"bytes"
	"testing"

	"github.com/strandmp/strand/pml/payload"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestReferProperty holds that a frame shows exactly the bytes it is for,
// without a copy, and that frames are empty when they are used again.
func TestReferProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := new(PML)
		content := bytes.Repeat([]byte{1, 2, 3}, rapid.IntRange(0, 20).Draw(t, "size"))
		var op operation
		cut := rapid.IntRange(0, len(content)).Draw(t, "cut")
		op.buf = payload.Memory{First: content[:cut], More: [][]byte{nil, content[cut:]}}
		for range 5 {
			offset := rapid.IntRange(0, len(content)).Draw(t, "offset")
			size := rapid.IntRange(0, len(content)-offset).Draw(t, "length")
			f := p.newFrame(&peer{pml: p})
			require.Empty(t, f.Payload)
			require.Empty(t, f.More)
			f.refer(&op, uint64(offset), uint64(size))
			require.Equal(t, 1, op.frames)
			require.Equal(t, size, f.Size)
			var got []byte
			f.Pieces(0, func(piece []byte) bool {
				require.Same(t, &content[offset+len(got)], &piece[0], "it is a copy")
				got = append(got, piece...)
				return true
			})
			require.True(t, bytes.Equal(content[offset:offset+size], got))
			op.frames--
			p.freeFrame(f)
		}
	})
}

func TestKeepProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &PML{pool: payload.Pool{Limit: 1 << 20}}
		content := bytes.Repeat([]byte{1, 2, 3}, rapid.IntRange(0, 20).Draw(t, "size"))
		op := operation{pml: p}
		cut := rapid.IntRange(0, len(content)).Draw(t, "cut")
		op.buf = payload.Memory{First: content[:cut], More: [][]byte{nil, content[cut:]}}
		op.size = uint64(len(content))
		f := p.newFrame(&peer{pml: p})
		f.keep(&op)
		require.True(t, bytes.Equal(content, f.Payload))
		require.Equal(t, cap(f.copy), p.copied)
		p.freeFrame(f)
		require.Zero(t, p.copied)
	})
}

// Handles that come from the network name an operation only if it is the one
// they were made for, of the peer they were told to.
func TestLookup(t *testing.T) {
	p := new(PML)
	a, b := &peer{pml: p, rank: 1}, &peer{pml: p, rank: 2}
	op := p.newOperation()
	op.peer, op.isSend = a, true
	h := op.handle()
	assert.Same(t, op, p.lookup(h, a, true))
	assert.Nil(t, p.lookup(h, b, true), "another peer's")
	assert.Nil(t, p.lookup(h, a, false), "a send is no receive")
	assert.Nil(t, p.lookup(h+1, a, true), "never given out")
	assert.Nil(t, p.lookup(1<<31, a, true), "beyond the slab")
	assert.Nil(t, p.lookup(1<<64-1, a, true), "wild")
	assert.Nil(t, p.lookup(h+1<<32, a, true), "of a later generation")
	p.freeOperation(op)
	assert.Nil(t, p.lookup(h, a, true), "it has ended")
	again := p.newOperation()
	require.Same(t, op, again)
	again.peer, again.isSend = a, true
	assert.Nil(t, p.lookup(h, a, true), "of an earlier generation")
	assert.Same(t, op, p.lookup(again.handle(), a, true))
}

func TestSlabGrows(t *testing.T) {
	p := new(PML)
	seen := make(map[uint64]bool)
	for range 3*chunkSize + 1 {
		seen[p.newOperation().handle()] = true
	}
	assert.Len(t, seen, 3*chunkSize+1)
	assert.Len(t, p.ops.chunks, 4)
}
