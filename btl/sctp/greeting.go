package sctp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/wireup"
)

// A greeting is what each side tells about itself in the handshake.
type greeting struct {
	maxFrame int // the largest payload it will send in one frame
	streams  int // for frames, of those it has asked for
	host     string
	hello    []byte // for the host of the other side
}

const (
	greetingHead = 8
	maxHello     = 4096
	// maxFrameLimit bounds what a peer may announce, and btl_sctp_max_frame.
	maxFrameLimit = 1 << 20
)

func (g greeting) encode() []byte {
	host := g.host
	if len(host) > 255 {
		host = host[:255]
	}
	b := make([]byte, greetingHead, greetingHead+len(host)+len(g.hello))
	binary.LittleEndian.PutUint32(b, uint32(g.maxFrame))
	binary.LittleEndian.PutUint16(b[4:], uint16(g.streams))
	b[7] = byte(len(host))
	b = append(b, host...)
	return append(b, g.hello...)
}

var errGreeting = errors.New("malformed greeting in the handshake")

// hopeless tells the failures that another attempt would only repeat.
func hopeless(err error) bool { return handshake.Final(err) || errors.Is(err, errGreeting) }

// decodeGreeting returns a hello that shares memory with b.
func decodeGreeting(b []byte) (greeting, error) {
	if len(b) < greetingHead {
		return greeting{}, fmt.Errorf("%w: %d bytes", errGreeting, len(b))
	}
	size, streams := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])
	switch {
	case size == 0 || size > maxFrameLimit:
		return greeting{}, fmt.Errorf("%w: frames of up to %d bytes, allowed are 1 to %d", errGreeting, size, maxFrameLimit)
	case streams == 0:
		return greeting{}, fmt.Errorf("%w: no stream for frames", errGreeting)
	case b[6] != 0:
		return greeting{}, fmt.Errorf("%w: a reserved byte is set", errGreeting)
	}
	n := int(b[7])
	rest := b[greetingHead:]
	if n > len(rest) || len(rest)-n > maxHello {
		return greeting{}, fmt.Errorf("%w: host name of %d bytes in %d", errGreeting, n, len(rest))
	}
	return greeting{maxFrame: int(size), streams: int(streams), host: wireup.Plain(rest[:n]), hello: rest[n:]}, nil
}
