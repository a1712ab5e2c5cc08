package chunk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A Header is that of a packet, without its checksum (RFC 9260, section 3.1).
type Header struct {
	Source, Destination uint16
	// Tag is the verification tag: the one that the receiver has chosen; 0 with an INIT.
	Tag uint32
}

const (
	// HeaderSize is the length of a packet's header, with its checksum.
	HeaderSize = 12
	checksumAt = 8
)

// Errors of a packet. Its content is not to be believed, and is not answered.
var (
	ErrShort    = errors.New("shorter than a header and a chunk")
	ErrChecksum = errors.New("its checksum is wrong")
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	none       [4]byte
)

// Checksum is the CRC32c of a packet, as if its field for it were zero. It is so meanwhile: one call for all of the packet takes a
// fifth less than three around the field.
func Checksum(packet []byte) uint32 {
	field := packet[checksumAt:HeaderSize]
	was := binary.LittleEndian.Uint32(field)
	binary.LittleEndian.PutUint32(field, 0)
	sum := crc(packet)
	binary.LittleEndian.PutUint32(field, was)
	return sum
}

// Parse takes a packet apart. With zero a checksum of 0 is as good as the right one: the receiver has told
// the sender so (RFC 9653).
func Parse(packet []byte, zero bool) (h Header, chunks Chunks, err error) {
	if h, err = ParseHeader(packet); err == nil {
		chunks, err = ParseChunks(packet, zero)
	}
	return h, chunks, err
}

// ParseChunks is Parse for a packet whose header was read by [ParseHeader].
func ParseChunks(packet []byte, zero bool) (Chunks, error) {
	sum := binary.LittleEndian.Uint32(packet[checksumAt:])
	if (sum != 0 || !zero) && sum != Checksum(packet) {
		return Chunks{}, ErrChecksum
	}
	return Chunks{packet[HeaderSize:]}, nil
}

// ParseHeader reads the header alone, without a look at the checksum, as one does to find out whom a packet
// is for.
func ParseHeader(packet []byte) (Header, error) {
	if len(packet) < HeaderSize+chunkHeader {
		return Header{}, ErrShort
	}
	return Header{
		Source:      binary.BigEndian.Uint16(packet),
		Destination: binary.BigEndian.Uint16(packet[2:]),
		Tag:         binary.BigEndian.Uint32(packet[4:]),
	}, nil
}

// First is the type of a packet's first chunk, which [ParseHeader] has found to be there.
func First(packet []byte) Type { return Type(packet[HeaderSize]) }

// AppendHeader begins a packet, at a multiple of four bytes in its buffer. Its checksum is 0 until [Seal].
func AppendHeader(b []byte, h Header) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(h.Source)<<48|uint64(h.Destination)<<32|uint64(h.Tag))
	return append(b, 0, 0, 0, 0)
}

// Seal writes the checksum of a packet that is complete.
func Seal(packet []byte) {
	binary.LittleEndian.PutUint32(packet[checksumAt:], Checksum(packet))
}
