package framing

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// PrefixSize is the number of bytes before each frame's header.
const PrefixSize = 8

// Kinds of frames.
const (
	kindData    = 1
	kindGoodbye = 2
)

// A Prefix is what precedes a frame in the stream.
type Prefix struct {
	// Payload and Header are their lengths in bytes.
	Payload, Header int
	Filling
	// Goodbye: this is no frame but the end of the stream, in order. Both lengths are 0.
	Goodbye bool
}

// Filling is how many bytes are filled in between header and payload, and behind the payload: at most MaxFill each.
type Filling struct{ Lead, Trail uint8 } // of Prefix in few words, which a register can hold

// Head is how many bytes there are before the payload, the prefix's own among them.
func (p Prefix) Head() int { return PrefixSize + p.Header + int(p.Lead) }

// Size is what the frame takes in the stream, in bytes.
func (p Prefix) Size() int { return p.Head() + p.Payload + int(p.Trail) }

// Put writes the prefix to the first PrefixSize bytes of b.
func (p Prefix) Put(b []byte) {
	kind := uint64(kindData)
	if p.Goodbye {
		kind = kindGoodbye
	}
	binary.LittleEndian.PutUint64(b, uint64(uint32(p.Payload))|uint64(uint8(p.Header))<<32|kind<<40|
		uint64(p.Lead)<<48|uint64(p.Trail)<<56)
}

// PutHead writes the prefix, the header and what is filled in behind it to the beginning of b, and returns the rest of b.
func (p Prefix) PutHead(b, header []byte) []byte {
	p.Put(b)
	head := p.Head()
	copy(b[PrefixSize:], header)
	clear(b[head-int(p.Lead) : head])
	return b[head:]
}

// ParsePrefix reads the first PrefixSize bytes of b. Payloads above limit, in bytes, are an
// error.
func ParsePrefix(b []byte, limit int) (Prefix, error) {
	w := binary.LittleEndian.Uint64(b)
	size, head, kind, lead, trail := uint32(w), int(w>>32&0xff), uint8(w>>40), uint8(w>>48), uint8(w>>56)
	switch {
	case kind == kindGoodbye:
		if size != 0 || head != 0 || lead != 0 || trail != 0 {
			return Prefix{}, fmt.Errorf("malformed goodbye: %d bytes of header, %d of payload, %d and %d of filling", head, size, lead, trail)
		}
	case kind != kindData:
		return Prefix{}, fmt.Errorf("malformed frame: unknown kind %d", kind)
	case head == 0 || head > btl.MaxHeader:
		return Prefix{}, fmt.Errorf("malformed frame: header of %d bytes, allowed are 1 to %d", head, btl.MaxHeader)
	case uint64(size) > uint64(limit):
		return Prefix{}, fmt.Errorf("malformed frame: payload of %d bytes, the peer has announced at most %d", size, limit)
	case lead > MaxFill || trail > MaxFill:
		return Prefix{}, fmt.Errorf("malformed frame: filling of %d and %d bytes, allowed are at most %d", lead, trail, MaxFill)
	}
	return Prefix{Payload: int(size), Header: head, Filling: Filling{lead, trail}, Goodbye: kind == kindGoodbye}, nil
}

// Size is what a frame takes in the stream, in bytes.
func Size(f *btl.Frame) int { return PrefixSize + len(f.Header) + f.Size }

// Append copies a frame, with its prefix, behind b.
func Append(b []byte, f *btl.Frame) []byte {
	at := len(b)
	b = append(b, make([]byte, PrefixSize)...)
	Prefix{Payload: f.Size, Header: len(f.Header)}.Put(b[at:])
	b = append(append(b, f.Header...), f.Payload...)
	for _, p := range f.More {
		b = append(b, p...)
	}
	return b
}

// AppendGoodbye adds the end of the stream to b.
func AppendGoodbye(b []byte) []byte {
	var p [PrefixSize]byte
	Prefix{Goodbye: true}.Put(p[:])
	return append(b, p[:]...)
}
