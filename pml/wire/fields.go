package wire

import "encoding/binary"

// Where the fields stand that all headers have (COMMON), and those that all messages have:
// each is written in one place and read in one place.

// Fields are an encoded header, of which these fields are read where they lie.
type Fields []byte

// Kind is what the frame is for.
func (b Fields) Kind() Kind { return Kind(b[0]) }

// Flags say more of it.
func (b Fields) Flags() Flags { return Flags(b[1]) }

// Lane is the lane's number.
func (b Fields) Lane() uint16 { return binary.LittleEndian.Uint16(b[2:]) }

// Frame is the frame's number.
func (b Fields) Frame() uint32 { return binary.LittleEndian.Uint32(b[4:]) }

// Ack is the number of the next frame expected.
func (b Fields) Ack() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// Credit is what was granted since the start, in units.
func (b Fields) Credit() uint32 { return binary.LittleEndian.Uint32(b[12:]) }

// Context is a message's context.
func (b Fields) Context() uint64 { return binary.LittleEndian.Uint64(b[16:]) }

// Tag is a message's tag.
func (b Fields) Tag() int32 { return int32(binary.LittleEndian.Uint32(b[24:])) }

// Seq is a message's place among all of its sender in its context.
func (b Fields) Seq() uint32 { return binary.LittleEndian.Uint32(b[28:]) }

// LaneSeq is a message's place in its lane.
func (b Fields) LaneSeq() uint32 { return binary.LittleEndian.Uint32(b[32:]) }

func putFrame(b []byte, kind Kind, flags Flags, lane uint16, frame uint32) {
	b[0], b[1] = byte(kind), byte(flags)
	binary.LittleEndian.PutUint16(b[2:], lane)
	binary.LittleEndian.PutUint32(b[4:], frame)
}

// Restamp replaces the acknowledgement and the credit in an encoded header: they are
// those of the moment the frame goes out.
func Restamp(b []byte, ack, credit uint32) {
	binary.LittleEndian.PutUint32(b[8:], ack)
	binary.LittleEndian.PutUint32(b[12:], credit)
}

func putMessage(b []byte, context uint64, tag int32, seq, laneSeq uint32) {
	binary.LittleEndian.PutUint64(b[16:], context)
	binary.LittleEndian.PutUint32(b[24:], uint32(tag))
	binary.LittleEndian.PutUint32(b[28:], seq)
	binary.LittleEndian.PutUint32(b[32:], laneSeq)
}

// Plain reports whether b is the header of a plain frame: a whole message that has a number,
// and no flag but whether it is to be acknowledged now. All of its fields may be read then, and
// are such as [Header.Decode] takes.
func Plain(b []byte) (Fields, bool) {
	f := Fields(b)
	return f, len(b) == eagerSize && f.Kind() == Eager && f.Flags()&^FlagAckNow == FlagCounted && f.Lane() < MaxLanes && f.Tag() >= 0
}

// PutPlain writes the header of a plain frame to b, which has room for it, and returns it.
// Acknowledgement and credit are left to [Restamp].
func PutPlain(b []byte, lane uint16, frame uint32, context uint64, tag int32, seq, laneSeq uint32) []byte {
	b = b[:eagerSize]
	putFrame(b, Eager, FlagCounted, lane, frame)
	putMessage(b, context, tag, seq, laneSeq)
	return b
}
