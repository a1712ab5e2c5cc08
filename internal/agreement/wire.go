package agreement

import (
	"encoding/binary"
	"errors"
)

// A Set is a set of processes, a bit for each.
type Set []byte

// NewSet returns an empty set of up to size processes.
func NewSet(size int) Set { return make(Set, (size+7)/8) }

// Add puts a process into the set.
func (s Set) Add(rank int) { s[rank/8] |= 1 << (rank % 8) }

// Has reports whether a process is in the set.
func (s Set) Has(rank int) bool { return rank/8 < len(s) && s[rank/8]&(1<<(rank%8)) != 0 }

func (s Set) clone() Set { return append(Set(nil), s...) }

func (s Set) join(o Set) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s Set) meet(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// fixed is the length of a message without its sets.
const fixed = 1 + 8 + 8 + 8 + 8 + 1 + 4

// Length is that of the longest message among so many processes, in bytes.
func Length(size int) int { return fixed + 2*len(NewSet(size)) }

// Append appends the bytes of the message, little-endian.
func (m *Message) Append(b []byte) []byte {
	v := &m.Value
	b = append(b, byte(m.Kind))
	for _, word := range []uint64{uint64(m.Ballot), uint64(m.Accepted), v.Flags, v.ID} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	b = append(b, v.Kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Odd))
	return append(append(b, v.Gone...), v.Known...)
}

var errMalformed = errors.New("malformed message of an agreement")

// Decode reads a message among so many processes. It refers to b.
func Decode(b []byte, size int) (m Message, err error) {
	sets := b[min(fixed, len(b)):]
	length := len(NewSet(size))
	bare := len(b) == fixed
	if !bare && (len(b) < fixed || len(sets) != 2*length) {
		return m, errMalformed
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	m = Message{Kind: Kind(b[0]), Ballot: int64(word(0)), Accepted: int64(word(1)), Value: Value{
		Flags: word(2), ID: word(3), Kind: b[33], Odd: int32(binary.LittleEndian.Uint32(b[34:])),
	}}
	if !bare {
		m.Value.Gone, m.Value.Known = Set(sets[:length:length]), Set(sets[length:])
	}
	if m.Kind < Query || m.Kind > Decide || m.Ballot < 0 || m.Ballot > 1<<62 || m.Accepted < -1 || m.Accepted > m.Ballot || m.Value.Odd < -1 || int(m.Value.Odd) >= size {
		return m, errMalformed
	}
	if carries := m.Kind == Vote || m.Kind == Propose || m.Kind == Decide; carries == bare {
		return m, errMalformed
	}
	return m, nil
}
