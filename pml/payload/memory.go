package payload

import "github.com/strandmp/strand/btl"

// Memory is where a message is, or goes: the program's, or a copy. The zero value is none.
type Memory struct {
	First []byte   // mostly all of it
	More  [][]byte // the other pieces
}

// Size is how many bytes there are.
func (m Memory) Size() uint64 {
	n := uint64(len(m.First))
	for _, piece := range m.More {
		n += uint64(len(piece))
	}
	return n
}

// From is the memory from an offset on.
func (m Memory) From(offset uint64) Memory {
	if offset <= uint64(len(m.First)) {
		return Memory{m.First[offset:], m.More}
	}
	offset -= uint64(len(m.First))
	for i, piece := range m.More {
		if offset < uint64(len(piece)) {
			return Memory{piece[offset:], m.More[i+1:]}
		}
		offset -= uint64(len(piece))
	}
	return Memory{}
}

// Pack copies the beginning to data, as far as there is so much of either.
func (m Memory) Pack(data []byte) {
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
// behind the data as well, from under the hands of who writes them.
func (m *Memory) TakeIn(data []byte) {
	n := len(data)
	if n > len(m.First) {
		m.Unpack(data)
		return
	}
	to := m.First[:n]
	if n <= backwards {
		copy(to, data)
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
	if size == 0 {
		return room
	}
	m = m.From(offset)
	for len(m.First) == 0 && len(m.More) > 0 {
		m = Memory{m.More[0], m.More[1:]}
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
