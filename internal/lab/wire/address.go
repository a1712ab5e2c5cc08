package wire

import (
	"encoding/binary"
	"net"
)

// HardwareAddr is the Ethernet address of a host's interface: 02:00:00:00 and its
// number. The bit in the first byte says that no manufacturer has given it.
func HardwareAddr(host int) net.HardwareAddr {
	return binary.BigEndian.AppendUint16([]byte{2, 0, 0, 0}, uint16(host))
}

// destination returns the host that a frame is for, or false.
func destination(frame []byte, hosts int) (host int, ok bool) {
	const localAndZeros = 0x02000000
	if len(frame) < 14 || binary.BigEndian.Uint32(frame) != localAndZeros {
		return 0, false
	}
	host = int(binary.BigEndian.Uint16(frame[4:]))
	return host, host < hosts
}
