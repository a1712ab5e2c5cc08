package chunk

import "encoding/binary"

// A Forward is a FORWARD-TSN (RFC 3758, section 3.2) or I-FORWARD-TSN (RFC 8260, section 2.3.1): its sender
// gives messages up. We never offer that, but read it in order to answer it rightly.
type Forward struct {
	Cumulative  uint32
	interleaved bool
	skipped     []byte
}

// Skipped is a stream and the last of its messages that was given up.
type Skipped struct {
	Stream    uint16
	Unordered bool
	Message   uint32
}

// ParseForward reads a FORWARD-TSN or I-FORWARD-TSN.
func ParseForward(c Chunk) (Forward, error) {
	f := Forward{interleaved: c.Type == TypeForwardI}
	if len(c.Value) < 4 || (len(c.Value)-4)%f.size() != 0 {
		return Forward{}, malformed(c.Type, "bytes:", len(c.Value))
	}
	f.Cumulative, f.skipped = binary.BigEndian.Uint32(c.Value), c.Value[4:]
	return f, nil
}

func (f *Forward) size() int {
	if f.interleaved {
		return 8
	}
	return 4
}

// Count is how many streams it tells of.
func (f *Forward) Count() int { return len(f.skipped) / f.size() }

// Skipped is one of them, counted from 0.
func (f *Forward) Skipped(i int) Skipped {
	b := f.skipped[i*f.size():]
	s := Skipped{Stream: binary.BigEndian.Uint16(b)}
	if f.interleaved {
		s.Unordered, s.Message = b[3]&1 != 0, binary.BigEndian.Uint32(b[4:])
	} else {
		s.Message = uint32(binary.BigEndian.Uint16(b[2:]))
	}
	return s
}

// AppendForward appends a FORWARD-TSN or I-FORWARD-TSN.
func AppendForward(b []byte, t Type, cumulative uint32, skipped []Skipped) []byte {
	b, start := Begin(b, t, 0)
	b = binary.BigEndian.AppendUint32(b, cumulative)
	for _, s := range skipped {
		b = binary.BigEndian.AppendUint16(b, s.Stream)
		if t != TypeForwardI {
			b = binary.BigEndian.AppendUint16(b, uint16(s.Message))
			continue
		}
		flags := uint16(0)
		if s.Unordered {
			flags = 1
		}
		b = binary.BigEndian.AppendUint16(b, flags)
		b = binary.BigEndian.AppendUint32(b, s.Message)
	}
	return End(b, start)
}
