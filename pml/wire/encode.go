package wire

import "encoding/binary"

// Encode writes h to b, which has room for btl.MaxHeader bytes, and returns the header's
// length.
func (h *Header) Encode(b []byte) int {
	n := h.encodeWhole(b)
	if h.IsPart() {
		n = putPart(b, n, h.Part)
	}
	return n
}

func (h *Header) encodeWhole(b []byte) int {
	le := binary.LittleEndian
	putFrame(b, h.Kind, h.Flags, h.Lane, h.Frame)
	Restamp(b, h.Ack, h.Credit)
	switch h.Kind {
	case Eager, Request:
		putMessage(b, h.Context, h.Tag, h.Seq, h.LaneSeq)
		if h.Kind != Request {
			return eagerSize
		}
		le.PutUint64(b[36:], h.Size)
		le.PutUint64(b[44:], h.Handle)
		return requestSize
	case Clear:
		le.PutUint64(b[16:], h.Handle)
		le.PutUint64(b[24:], h.Remote)
		le.PutUint64(b[32:], h.Accept)
		le.PutUint32(b[40:], h.Round)
		return clearSize
	case Data:
		le.PutUint64(b[16:], h.Handle)
		le.PutUint64(b[24:], h.Offset)
		return dataSize
	case Ack:
		for i, r := range h.Ranges[:h.NumRanges] {
			le.PutUint32(b[commonSize+i*rangeSize:], r.First)
			le.PutUint32(b[commonSize+i*rangeSize+4:], r.Count)
		}
		return commonSize + h.NumRanges*rangeSize
	case Broken:
		le.PutUint16(b[16:], h.Path)
		b[18] = byte(len(h.Component))
		return brokenSize + copy(b[brokenSize:], h.Component)
	}
	return commonSize
}

// EncodePart writes to b, which has room for btl.MaxHeader bytes, the header of a part of a
// frame, and returns its length. Of is the frame's own header, or that of any part of it.
func EncodePart(b, of []byte, p Part) int {
	if Fields(of).Flags()&FlagPart != 0 {
		of = of[:len(of)-partSize]
	}
	return putPart(b, copy(b, of), p)
}

// putPart turns an encoded header of size bytes into that of a part, and returns its length.
func putPart(b []byte, size int, p Part) int {
	b[1] |= byte(FlagPart)
	binary.LittleEndian.PutUint32(b[size:], p.At)
	binary.LittleEndian.PutUint32(b[size+4:], p.Whole)
	return size + partSize
}
