package chunk

import "encoding/binary"

// A SACK acknowledges data (RFC 9260, section 3.3.4).
type SACK struct {
	Cumulative uint32 // the last TSN up to which all have arrived
	Window     uint32 // bytes that the receiver has room for
	gaps, dups []byte
}

// A Gap is a row of TSNs beyond the cumulative one that have arrived, both ends included, by their distance
// from it.
type Gap struct{ First, Last uint16 }

const (
	sackSize = 12
	// SACKHeader is how many bytes a SACK takes without gaps and duplicates, and SACKItem each of these.
	SACKHeader = chunkHeader + sackSize
	SACKItem   = 4
)

// ParseSACK reads a SACK. That its gaps are in order is for the caller to see.
func ParseSACK(c Chunk) (SACK, error) {
	v := c.Value
	if len(v) < sackSize {
		return SACK{}, malformed(c.Type, "bytes where 12 are due:", len(v))
	}
	gaps := sackSize + SACKItem*int(binary.BigEndian.Uint16(v[8:]))
	all := gaps + SACKItem*int(binary.BigEndian.Uint16(v[10:]))
	if all > len(v) {
		return SACK{}, malformed(c.Type, "bytes are not all that it announces:", len(v))
	}
	return SACK{
		Cumulative: binary.BigEndian.Uint32(v), Window: binary.BigEndian.Uint32(v[4:]),
		gaps: v[sackSize:gaps], dups: v[gaps:all],
	}, nil
}

// Gaps is how many there are.
func (s *SACK) Gaps() int { return len(s.gaps) / SACKItem }

// Gap is one of them, counted from 0.
func (s *SACK) Gap(i int) Gap {
	return Gap{binary.BigEndian.Uint16(s.gaps[SACKItem*i:]), binary.BigEndian.Uint16(s.gaps[SACKItem*i+2:])}
}

// Duplicates is how many TSNs are told that have arrived more than once.
func (s *SACK) Duplicates() int { return len(s.dups) / SACKItem }

// Duplicate is one of them, counted from 0.
func (s *SACK) Duplicate(i int) uint32 { return binary.BigEndian.Uint32(s.dups[SACKItem*i:]) }

// AppendSACK appends a SACK.
func AppendSACK(b []byte, cumulative, window uint32, gaps []Gap, duplicates []uint32) []byte {
	b, start := Begin(b, TypeSACK, 0)
	b = binary.BigEndian.AppendUint32(b, cumulative)
	b = binary.BigEndian.AppendUint32(b, window)
	b = binary.BigEndian.AppendUint16(b, uint16(len(gaps)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(duplicates)))
	for _, g := range gaps {
		b = binary.BigEndian.AppendUint16(b, g.First)
		b = binary.BigEndian.AppendUint16(b, g.Last)
	}
	for _, n := range duplicates {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return End(b, start)
}
