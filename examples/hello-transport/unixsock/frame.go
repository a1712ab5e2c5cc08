package unixsock

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/strandmp/strand/btl"
)

// On the wire a frame is the length of its payload (4 bytes, little-endian), the
// length of its header (1 byte), the header, the payload. One without a header is
// the goodbye that ends a connection in order.
const prefixSize = 5

var goodbye = make([]byte, prefixSize)

// encode copies a frame into the form that goes over the wire.
func encode(f *btl.Frame) []byte {
	b := make([]byte, prefixSize+len(f.Header)+f.Size)
	binary.LittleEndian.PutUint32(b, uint32(f.Size))
	b[4] = byte(len(f.Header))
	n := copy(b[prefixSize:], f.Header)
	f.CopyPayload(b[prefixSize+n:])
	return b
}

// readFrame reads a frame into buf, which has room for any. After a goodbye the
// error is [btl.ErrPeerClosed].
func readFrame(r io.Reader, buf []byte) (header, payload []byte, err error) {
	var prefix [prefixSize]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, nil, fmt.Errorf("the connection has ended without a goodbye: %w", err)
	}
	size, head := binary.LittleEndian.Uint32(prefix[:]), int(prefix[4])
	switch {
	case head == 0 && size == 0:
		return nil, nil, btl.ErrPeerClosed
	case head == 0 || head > btl.MaxHeader || size > maxFrame:
		return nil, nil, fmt.Errorf("malformed frame: header of %d bytes (1 to %d), payload of %d (at most %d)", head, btl.MaxHeader, size, maxFrame)
	}
	b := buf[:head+int(size)]
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, nil, fmt.Errorf("the connection has ended in the middle of a frame: %w", err)
	}
	return b[:head], b[head:], nil
}
