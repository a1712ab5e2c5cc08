package flood

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"net/netip"
)

// Types of chunks and parameters (RFC 9260, section 3.2), and where they are in a packet.
const (
	chunkInit, chunkInitAck, chunkCookieEcho, chunkCookieAck = 1, 2, 10, 11

	paramCookie = 7

	headerSize = 12
	initSize   = 20
	innerPort  = 5000 // of SCTP in UDP, at both ends
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packet makes an SCTP packet of one chunk.
func packet(tag uint32, chunk byte, value []byte) []byte {
	be := binary.BigEndian
	b := be.AppendUint16(nil, innerPort)
	b = be.AppendUint16(b, innerPort)
	b = be.AppendUint32(b, tag)
	b = append(b, 0, 0, 0, 0, chunk, 0)
	b = be.AppendUint16(b, uint16(4+len(value)))
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, castagnoli))
	return b
}

// Init is an INIT without parameters, the shortest there is.
func Init() []byte {
	be := binary.BigEndian
	b := be.AppendUint32(nil, rand.Uint32()|1)
	b = be.AppendUint32(b, 1<<20)
	b = be.AppendUint16(b, 10)
	b = be.AppendUint16(b, 10)
	return packet(0, chunkInit, be.AppendUint32(b, rand.Uint32()))
}

// NewSCTP begins a flood of associations with an SCTP in user space: so many INITs a second, and the cookies
// that come back echoed, so that each is an association whose address has answered, and
// nothing more.
func NewSCTP(to netip.AddrPort, rate int, conns ...net.PacketConn) *Datagrams {
	return begin(to, rate, conns, Init, func(b []byte) (answer []byte, made bool) {
		if len(b) < headerSize+4 {
			return nil, false
		}
		switch b[headerSize] {
		case chunkInitAck:
			if tag, cookie := cookieOf(b); cookie != nil {
				return packet(tag, chunkCookieEcho, cookie), false
			}
		case chunkCookieAck:
			return nil, true
		}
		return nil, false
	})
}

// cookieOf finds the cookie in an INIT ACK, and the tag to echo it with.
func cookieOf(b []byte) (tag uint32, cookie []byte) {
	be := binary.BigEndian
	if len(b) < headerSize+initSize {
		return 0, nil
	}
	tag = be.Uint32(b[headerSize+4:])
	for b = b[headerSize+initSize:]; len(b) >= 4; {
		n := int(be.Uint16(b[2:]))
		if n < 4 || n > len(b) {
			break
		}
		if be.Uint16(b) == paramCookie {
			return tag, b[4:n]
		}
		b = b[min((n+3)&^3, len(b)):]
	}
	return 0, nil
}
