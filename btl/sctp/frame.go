package sctp

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// Sizes in bytes.
const (
	// prefixSize is the number of bytes before each frame's header.
	prefixSize = 8
	maxHeader  = btl.MaxHeader
	// leastFrame is the least payload of a frame that package btl asks of a module.
	leastFrame  = 1024
	goodbyeSize = 8
)

// Payload protocol identifiers say what a message is. They are not registered; the
// first three bytes are "STR".
const (
	ppidHandshake = 0x53545200 + iota // one message of package handshake
	ppidData                          // a frame
	ppidReady                         // the connector knows that it was let in; one byte, 0
	ppidGoodbye                       // how many frames were sent, on all streams together
)

// controlStream carries what is about the connection, and the message layer's control
// frames.
const controlStream = 0

// prefix is what precedes a frame's header in its message.
type prefix struct {
	payload int
	header  int
}

func (p prefix) put(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(uint32(p.payload))|uint64(uint8(p.header))<<32)
}

// parsePrefix reads the first prefixSize bytes of b. Payloads above limit are
// an error.
func parsePrefix(b []byte, limit int) (prefix, error) {
	w := binary.LittleEndian.Uint64(b)
	p := prefix{header: int(w >> 32 & 0xff)}
	size := uint32(w)
	switch {
	case w>>40 != 0:
		return p, fmt.Errorf("malformed frame: reserved bytes %#06x are not zero", w>>40)
	case p.header == 0 || p.header > maxHeader:
		return p, fmt.Errorf("malformed frame: header of %d bytes, allowed are 1 to %d", p.header, maxHeader)
	case uint64(size) > uint64(limit):
		return p, fmt.Errorf("malformed frame: payload of %d bytes, the peer has announced at most %d", size, limit)
	}
	p.payload = int(size)
	return p, nil
}

// parseGoodbye returns the number of frames that the peer has sent.
func parseGoodbye(b []byte) (uint64, error) {
	if len(b) != goodbyeSize {
		return 0, fmt.Errorf("malformed goodbye: %d bytes instead of %d", len(b), goodbyeSize)
	}
	return binary.LittleEndian.Uint64(b), nil
}
