package flood

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"net/netip"
)

// Packets of btl/udp's handshake (docs/WIRE.md, section 4c).
const (
	udpHello, udpCookie = 0x11, 0x12

	udpNameSize, udpCookieSize = 1 + 8, 16
)

// NewUDP begins a flood of connections over btl/udp: so many HELLOs a second, and the cookies that come back shown, so
// that each is one whose address has answered, and nothing more.
func NewUDP(to netip.AddrPort, rate int, conns ...net.PacketConn) *Datagrams {
	first := func() []byte { return hello(rand.Uint64()|1, make([]byte, udpCookieSize)) }
	return begin(to, rate, conns, first, func(b []byte) (answer []byte, made bool) {
		if len(b) != udpNameSize+udpCookieSize || b[0] != udpCookie {
			return nil, false
		}
		return hello(binary.LittleEndian.Uint64(b[1:]), b[udpNameSize:]), true
	})
}

// hello is a HELLO that shows a cookie, without a message.
func hello(ours uint64, cookie []byte) []byte {
	b := binary.LittleEndian.AppendUint64(append(make([]byte, 0, 64), udpHello), 0)
	b = binary.LittleEndian.AppendUint64(b, ours)
	b = append(append(b, byte(len(cookie))), cookie...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}
