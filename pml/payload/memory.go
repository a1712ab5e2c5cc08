package payload

import (
	"unsafe"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/coherence"
	"github.com/strandmp/strand/internal/layout"
)

// Memory is where a message is, or goes: the program's, or a copy. The zero value is none.
type Memory struct {
	First []byte   // mostly all of it
	More  [][]byte // the other pieces
	// Layout says where the bytes lie, from Base on, and First and More are nil then.
	Layout *layout.Layout
	Base   unsafe.Pointer
}

var _ btl.Place = (*Memory)(nil)

// Run implements [btl.Place], for memory with a layout.
func (m *Memory) Run(offset int) []byte { return m.Layout.Run(m.Base, offset) }

// Put implements [btl.Place], likewise.
func (m *Memory) Put(offset int, b []byte) { m.Layout.Unpack(m.Base, offset, b) }

// listedRun is the mean length of runs from which on those of a layout are listed for a frame. Shorter ones are packed.
const listedRun = 8 << 10

// Packs reports whether frames of the memory need a copy of their bytes, made by [Memory.PackFrom].
func (m *Memory) Packs() bool {
	return m.Layout != nil && m.Layout.Size()/max(m.Layout.Blocks(), 1) < listedRun
}

// PackFrom copies the bytes from an offset on to data. The memory has a layout.
func (m *Memory) PackFrom(offset uint64, data []byte) { m.Layout.Pack(m.Base, int(offset), data) }

// Size is how many bytes there are.
func (m Memory) Size() uint64 {
	if m.Layout != nil {
		return uint64(m.Layout.Size())
	}
	n := uint64(len(m.First))
	for _, piece := range m.More {
		n += uint64(len(piece))
	}
	return n
}

// From is the memory from an offset on. It is not for memory with a layout.
func (m Memory) From(offset uint64) Memory {
	if offset <= uint64(len(m.First)) {
		return Memory{First: m.First[offset:], More: m.More}
	}
	offset -= uint64(len(m.First))
	for i, piece := range m.More {
		if offset < uint64(len(piece)) {
			return Memory{First: piece[offset:], More: m.More[i+1:]}
		}
		offset -= uint64(len(piece))
	}
	return Memory{}
}

// Pack copies the beginning to data, as far as there is so much of either.
func (m Memory) Pack(data []byte) {
	if m.Layout != nil {
		m.PackFrom(0, data)
		return
	}
	data = data[copy(data, m.First):]
	for _, piece := range m.More {
		if len(data) == 0 {
			return
		}
		data = data[copy(data, piece):]
	}
}

// Unpack copies data to the beginning, as far as there is so much of either.
func (m Memory) Unpack(data []byte) {
	if m.Layout != nil {
		m.Put(0, data)
		return
	}
	data = data[copy(m.First, data):]
	for _, piece := range m.More {
		if len(data) == 0 {
			return
		}
		data = data[copy(piece, data):]
	}
}

// backwards is how many bytes at a time TakeIn copies.
const backwards = 256

// TakeIn is Unpack of data that another processor may have written a moment ago, behind which it
// goes on writing. It begins at the end. A processor that reads forwards soon fetches the lines
// behind the data as well, from under the hands of who writes them. A string move, which long data come by where there is one, is sooner.
func (m *Memory) TakeIn(data []byte) {
	n := len(data)
	if n > len(m.First) {
		m.Unpack(data)
		return
	}
	to := m.First[:n]
	switch {
	case n <= backwards:
		copy(to, data)
		return
	case coherence.Moves(n):
		coherence.Copy(to, data)
		return
	}
	for from := (n - 1) &^ (backwards - 1); from >= 0; from -= backwards {
		copy(to[from:], data[from:min(from+backwards, n)])
	}
}

// Show makes size bytes of the memory, from offset on, the frame's payload. They are not
// copied. Pieces beyond the first are listed in room, which Show returns as far as it is
// used then.
func (m Memory) Show(f *btl.Frame, room [][]byte, offset, size uint64) [][]byte {
	f.Size = int(size)
	switch {
	case size == 0:
		return room
	case m.Layout != nil:
		return m.list(f, room, offset, size)
	}
	m = m.From(offset)
	for len(m.First) == 0 && len(m.More) > 0 {
		m = Memory{First: m.More[0], More: m.More[1:]}
	}
	f.Payload = m.First[:min(size, uint64(len(m.First)))]
	size -= uint64(len(f.Payload))
	for _, piece := range m.More {
		if size == 0 {
			break
		}
		piece = piece[:min(size, uint64(len(piece)))]
		room = append(room, piece)
		size -= uint64(len(piece))
	}
	f.More = room
	return room
}

// list is Show for memory with a layout.
func (m Memory) list(f *btl.Frame, room [][]byte, offset, size uint64) [][]byte {
	for size > 0 {
		piece := m.Run(int(offset))
		piece = piece[:min(size, uint64(len(piece)))]
		offset, size = offset+uint64(len(piece)), size-uint64(len(piece))
		if f.Payload == nil {
			f.Payload = piece
		} else {
			room = append(room, piece)
		}
	}
	f.More = room
	return room
}
