package userstack

import "encoding/binary"

// Linux joins packets for one peer and leaves it to the network card to cut them and to
// compute their checksums (GSO). Between two network namespaces of one machine there is
// no card, and for SCTP in UDP nobody else does it. So a datagram comes with one header
// and the chunks of many packets, without a checksum (seen with 6.1). It is accepted: its
// UDP checksum was right, or it never left the machine.

// isJoined reports whether a packet for the association is such a one.
func (a *association) isJoined(b []byte) bool {
	return len(b) > a.mtu && binary.LittleEndian.Uint32(b[8:]) == 0 && checkSum(b) != nil
}

// cut makes packets of the chunks of a joined one, and takes them. Those for which there is
// no room are lost, and come again.
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
