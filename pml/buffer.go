package pml

// buffer is where a message is, or goes: the program's, or a copy. It may be in several
// pieces; what is wanted of it is asked for by offset, so that only this file knows.
type buffer struct {
	first []byte   // mostly all of it
	more  [][]byte // the other pieces
}

// size is how many bytes there are.
func (m buffer) size() uint64 {
	n := uint64(len(m.first))
	for _, piece := range m.more {
		n += uint64(len(piece))
	}
	return n
}

// from is the memory from an offset on.
func (m buffer) from(offset uint64) buffer {
	if offset <= uint64(len(m.first)) {
		return buffer{m.first[offset:], m.more}
	}
	offset -= uint64(len(m.first))
	for i, piece := range m.more {
		if offset < uint64(len(piece)) {
			return buffer{piece[offset:], m.more[i+1:]}
		}
		offset -= uint64(len(piece))
	}
	return buffer{}
}

// pack copies the beginning to data, as far as there is so much of either.
func (m buffer) pack(data []byte) {
	data = data[copy(data, m.first):]
	for _, piece := range m.more {
		if len(data) == 0 {
			return
		}
		data = data[copy(data, piece):]
	}
}

// unpack copies data to the beginning, as far as there is so much of either.
func (m buffer) unpack(data []byte) {
	data = data[copy(m.first, data):]
	for _, piece := range m.more {
		if len(data) == 0 {
			return
		}
		data = data[copy(piece, data):]
	}
}

// carry makes size bytes of the memory, from offset on, the frame's payload. They are not
// copied.
func (f *txFrame) carry(m buffer, offset, size uint64) {
	f.Size = int(size)
	if size == 0 {
		return
	}
	m = m.from(offset)
	for len(m.first) == 0 && len(m.more) > 0 {
		m = buffer{m.more[0], m.more[1:]}
	}
	f.Payload = m.first[:min(size, uint64(len(m.first)))]
	size -= uint64(len(f.Payload))
	for _, piece := range m.more {
		if size == 0 {
			break
		}
		piece = piece[:min(size, uint64(len(piece)))]
		f.pieces = append(f.pieces, piece)
		size -= uint64(len(piece))
	}
	f.More = f.pieces
}
