package chunk

import "encoding/binary"

// Data is a DATA chunk (RFC 9260, section 3.3.1) or an I-DATA chunk (RFC 8260, section 2.1).
type Data struct {
	// Interleaved says that it is I-DATA.
	Interleaved bool
	Flags       uint8 // FlagEnd and its like
	TSN         uint32
	Stream      uint16
	// Message is the number of the message in its stream: 16 bits, of ordered ones only, in DATA (SSN), and
	// 32 bits in I-DATA (MID).
	Message uint32
	// Fragment is the place of the fragment in its message, with I-DATA: 0 in the first.
	Fragment uint32
	// PPID is the payload protocol. With I-DATA it is in the first fragment only.
	PPID uint32
	// Payload is what it carries, when it was read.
	Payload []byte
}

// Flags of data.
const (
	FlagEnd       = 1 << iota // the last fragment of its message
	FlagBegin                 // the first fragment of its message
	FlagUnordered             // the message does not wait for others
	FlagImmediate             // it is to be acknowledged at once
)

const (
	// DataHeader and InterleavedHeader are how many bytes a chunk has beside its payload.
	DataHeader        = 16
	InterleavedHeader = 20
)

// ParseData reads a DATA or I-DATA chunk. That it has no payload is for the caller to answer.
func ParseData(c Chunk) (Data, error) {
	d := Data{Interleaved: c.Type == TypeInterleaved, Flags: c.Flags}
	size := DataHeader - chunkHeader
	if d.Interleaved {
		size = InterleavedHeader - chunkHeader
	}
	v := c.Value
	if len(v) < size {
		return Data{}, malformed(c.Type, "bytes, no header:", len(v))
	}
	d.TSN, d.Stream = binary.BigEndian.Uint32(v), binary.BigEndian.Uint16(v[4:])
	switch {
	case !d.Interleaved:
		d.Message, d.PPID = uint32(binary.BigEndian.Uint16(v[6:])), binary.BigEndian.Uint32(v[8:])
	case d.Flags&FlagBegin != 0:
		d.Message, d.PPID = binary.BigEndian.Uint32(v[8:]), binary.BigEndian.Uint32(v[12:])
	default:
		d.Message, d.Fragment = binary.BigEndian.Uint32(v[8:]), binary.BigEndian.Uint32(v[12:])
	}
	d.Payload = v[size:]
	return d, nil
}

// Size is how many bytes a chunk takes in a packet, with a payload of so many.
func (d *Data) Size(payload int) int {
	if d.Interleaved {
		return Padded(InterleavedHeader + payload)
	}
	return Padded(DataHeader + payload)
}

// AppendData appends a DATA or I-DATA chunk with a payload of two parts, of which either may be nil.
// d.Payload is not looked at.
func AppendData(b []byte, d *Data, first, second []byte) []byte {
	b, start := BeginData(b, d)
	b = append(b, first...)
	return End(append(b, second...), start)
}

// BeginData begins a DATA or I-DATA chunk. The caller appends the payload, up to [End]. It appends eight bytes at a time: to ask whether the buffer has
// room takes longer than to write them.
func BeginData(b []byte, d *Data) (grown []byte, start int) {
	start = len(b)
	kind, last := TypeData, d.PPID
	if d.Interleaved {
		kind = TypeInterleaved
	}
	b = binary.BigEndian.AppendUint64(b, uint64(kind)<<56|uint64(d.Flags)<<48|uint64(d.TSN))
	if !d.Interleaved {
		return binary.BigEndian.AppendUint64(b, uint64(d.Stream)<<48|uint64(uint16(d.Message))<<32|uint64(last)), start
	}
	if d.Flags&FlagBegin == 0 {
		last = d.Fragment
	}
	b = binary.BigEndian.AppendUint64(b, uint64(d.Stream)<<48|uint64(d.Message))
	return binary.BigEndian.AppendUint32(b, last), start
}
