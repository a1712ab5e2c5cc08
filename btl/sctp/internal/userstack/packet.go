package userstack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// What this package has to know of SCTP's packets (RFC 9260, section 3). It sets
// associations up by itself, without state for strangers, and sends heartbeats and
// probes; the rest is pion's. All integers are big-endian, except the checksum: that is
// little-endian.

const (
	headerSize = 12
	chunkHead  = 4
	initSize   = chunkHead + 16 // without parameters
	// port is the SCTP port at both ends; pion has no other.
	port = stack.InnerPort
)

// Types of chunks.
const (
	chunkData         = 0
	chunkInit         = 1
	chunkInitAck      = 2
	chunkSack         = 3
	chunkHeartbeat    = 4
	chunkHeartbeatAck = 5
	chunkAbort        = 6
	chunkCookieEcho   = 10
	chunkCookieAck    = 11
	chunkIData        = 64
	chunkReconfig     = 130
	chunkForwardTSN   = 192
	chunkIForwardTSN  = 194
	flagReflected     = 1 // in an ABORT: the tag is that of the packet it answers
	paramHeartbeat    = 1
	paramCookie       = 7
	paramPad          = 0x8005
	paramExtensions   = 0x8008
	causeUserAbort    = 12
	minimalPacketSize = headerSize + chunkHead

	leastWindow = 1500 // that an INIT may offer (RFC 9260, 3.3.2)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errForm     = errors.New("malformed SCTP packet")
	errChecksum = errors.New("SCTP packet with a wrong checksum")
)

// checkHeader looks at what every packet has: length, ports.
func checkHeader(b []byte) error {
	if len(b) < minimalPacketSize {
		return fmt.Errorf("%w: %d bytes", errForm, len(b))
	}
	if from, to := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]); from != port || to != port {
		return fmt.Errorf("%w: ports %d → %d", errForm, from, to)
	}
	return nil
}

var noSum [4]byte

// checksum of a packet, whose own field counts as zero.
func checksum(b []byte) uint32 {
	sum := crc32.Update(0, castagnoli, b[:8])
	sum = crc32.Update(sum, castagnoli, noSum[:])
	return crc32.Update(sum, castagnoli, b[headerSize:])
}

func checkSum(b []byte) error {
	if binary.LittleEndian.Uint32(b[8:]) != checksum(b) {
		return errChecksum
	}
	return nil
}

// tagOf is the verification tag: the receiver's name for the association.
func tagOf(b []byte) uint32 { return binary.BigEndian.Uint32(b[4:]) }

// newPacket begins a packet with one chunk, whose value is to be appended.
func newPacket(tag uint32, chunk, flags byte) []byte {
	b := make([]byte, minimalPacketSize, 128)
	binary.BigEndian.PutUint16(b, port)
	binary.BigEndian.PutUint16(b[2:], port)
	binary.BigEndian.PutUint32(b[4:], tag)
	b[headerSize], b[headerSize+1] = chunk, flags
	return b
}

// seal completes a packet made by newPacket: length, padding, checksum.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint16(b[headerSize+2:], uint16(len(b)-headerSize))
	b = pad(b)
	binary.LittleEndian.PutUint32(b[8:], checksum(b))
	return b
}

func pad(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// chunks calls yield for each chunk of a packet until it returns false, and
// reports whether the packet was well-formed as far as it was looked at.
func chunks(b []byte, yield func(kind byte, chunk []byte) bool) bool {
	b = b[headerSize:]
	for len(b) > 0 {
		if len(b) < chunkHead {
			return false
		}
		n := int(binary.BigEndian.Uint16(b[2:]))
		if n < chunkHead || n > len(b) {
			return false
		}
		if !yield(b[0], b[:n]) {
			return true
		}
		b = b[min((n+3)&^3, len(b)):]
	}
	return true
}

// first returns the first chunk of a packet, or nil.
func first(b []byte) (found []byte) {
	chunks(b, func(_ byte, c []byte) bool { found = c; return false })
	return found
}

// An opening is what INIT and INIT ACK say.
type opening struct {
	tag        uint32
	window     uint32
	out, in    uint16 // streams
	tsn        uint32
	interleave bool
	mute       bool   // about extensions
	cookie     []byte // in INIT ACK
}

// answerSize is how long an INIT ACK of ours is.
const answerSize = headerSize + initSize + chunkHead + 4 + chunkHead + cookieSize

// ask makes a packet with an INIT, padded to the length of its answer (RFC 4820). So whoever
// answers an address that is not proved yet sends no more there than has come from it.
func (o *opening) ask() []byte {
	b := o.appendTo(newPacket(0, chunkInit, 0))
	if missing := answerSize - len(pad(b)); missing > 0 {
		b = appendParam(b, paramPad, make([]byte, max(missing-chunkHead, 0)))
	}
	return seal(b)
}

// appendTo appends the value of the chunk.
func (o *opening) appendTo(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, o.tag)
	b = be.AppendUint32(b, o.window)
	b = be.AppendUint16(b, o.out)
	b = be.AppendUint16(b, o.in)
	b = be.AppendUint32(b, o.tsn)
	kinds := []byte{chunkReconfig, chunkForwardTSN}
	if o.interleave {
		kinds = append(kinds, chunkIData, chunkIForwardTSN)
	}
	if !o.mute {
		b = appendParam(b, paramExtensions, kinds)
	}
	if o.cookie != nil {
		b = appendParam(b, paramCookie, o.cookie)
	}
	return b
}

func appendParam(b []byte, kind uint16, value []byte) []byte {
	b = pad(b)
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(chunkHead+len(value)))
	return append(b, value...)
}

// init returns the opening as an INIT chunk, without packet.
func (o *opening) init() []byte {
	bare := *o
	bare.cookie, bare.mute = nil, false
	b := bare.appendTo([]byte{chunkInit, 0, 0, 0})
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

// parseOpening reads an INIT or INIT ACK chunk. The cookie shares memory with it.
func parseOpening(c []byte) (*opening, error) {
	if len(c) < initSize {
		return nil, fmt.Errorf("%w: INIT of %d bytes", errForm, len(c))
	}
	be := binary.BigEndian
	o := &opening{tag: be.Uint32(c[4:]), window: be.Uint32(c[8:]),
		out: be.Uint16(c[12:]), in: be.Uint16(c[14:]), tsn: be.Uint32(c[16:])}
	switch {
	case o.tag == 0:
		return nil, fmt.Errorf("%w: INIT with tag 0", errForm)
	case o.window < leastWindow:
		return nil, fmt.Errorf("%w: INIT with a window of %d bytes, allowed are %d and more", errForm, o.window, leastWindow)
	case o.out < 2 || o.in < 2:
		return nil, fmt.Errorf("%w: INIT with %d streams out and %d in, 2 are needed", errForm, o.out, o.in)
	}
	o.mute = true
	return o, o.parseParams(c[initSize:])
}

func (o *opening) parseParams(b []byte) error {
	for len(b) >= chunkHead {
		kind, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		if n < chunkHead || n > len(b) {
			return fmt.Errorf("%w: parameter %#04x of %d bytes in %d", errForm, kind, n, len(b))
		}
		switch value := b[chunkHead:n]; kind {
		case paramCookie:
			o.cookie = value
		case paramExtensions:
			o.mute = false
			for _, k := range value {
				o.interleave = o.interleave || k == chunkIData
			}
		}
		b = b[min((n+3)&^3, len(b)):]
	}
	return nil
}

// abortPacket tells a peer that there is no such association, or no more.
func abortPacket(tag uint32, flags byte) []byte {
	b := newPacket(tag, chunkAbort, flags)
	if flags == 0 {
		b = appendParam(b, causeUserAbort, nil)
	}
	return seal(b)
}
