package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// prefixSize is the number of bytes before each frame's header.
const prefixSize = 8

// Kinds of frames.
const (
	kindData    = 1
	kindGoodbye = 2
)

// prefix is what precedes a frame on the wire.
type prefix struct {
	payload int
	header  int
	kind    uint8
}

func (p prefix) put(b []byte) {
	binary.LittleEndian.PutUint64(b,
		uint64(uint32(p.payload))|uint64(uint8(p.header))<<32|uint64(p.kind)<<40)
}

// parsePrefix reads the first prefixSize bytes of b. Payloads above limit are
// an error.
func parsePrefix(b []byte, limit int) (prefix, error) {
	w := binary.LittleEndian.Uint64(b)
	p := prefix{header: int(w >> 32 & 0xff), kind: uint8(w >> 40)}
	size := uint32(w)
	switch {
	case w>>48 != 0:
		return p, fmt.Errorf("malformed frame: reserved bytes %#04x are not zero", w>>48)
	case p.kind == kindGoodbye:
		if size != 0 || p.header != 0 {
			return p, fmt.Errorf("malformed goodbye: %d bytes of header and %d of payload", p.header, size)
		}
	case p.kind != kindData:
		return p, fmt.Errorf("malformed frame: unknown kind %d", p.kind)
	case p.header == 0 || p.header > btl.MaxHeader:
		return p, fmt.Errorf("malformed frame: header of %d bytes, allowed are 1 to %d", p.header, btl.MaxHeader)
	case uint64(size) > uint64(limit):
		return p, fmt.Errorf("malformed frame: payload of %d bytes, the peer has announced at most %d", size, limit)
	}
	p.payload = int(size)
	return p, nil
}
