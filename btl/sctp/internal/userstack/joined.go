package userstack

import "encoding/binary"

// Linux leaves it to the network card to cut what it has joined for one peer into
// packets, and to compute their checksums (GSO). Between two network namespaces of one
// machine there is no card, and for SCTP in UDP nobody else does it: a datagram is one
// header and the chunks of many packets, with no checksum (seen with 6.1). UDP's own
// was right, or has not left the machine, so it is taken for what it is.

// isJoined reports whether a packet for the association is such a one.
func (a *association) isJoined(b []byte) bool {
	return len(b) > a.mtu && binary.LittleEndian.Uint32(b[8:]) == 0 && checkSum(b) != nil
}

// cut takes the chunks of a joined packet as packets of their own. What there is no
// room for is lost, and comes again.
func (a *association) cut(so *socket, b []byte) {
	one := append([]byte(nil), b[:headerSize]...)
	take := func() {
		if len(one) > headerSize && so.held == nil && !a.ended {
			binary.LittleEndian.PutUint32(one[8:], checksum(one))
			a.take(so, one)
		}
		one = one[:headerSize]
	}
	chunks(b, func(_ byte, c []byte) bool {
		if len(one)+len(c) > a.mtu {
			take()
		}
		one = pad(append(one, c...))
		return len(one) <= largestPacket
	})
	take()
}
