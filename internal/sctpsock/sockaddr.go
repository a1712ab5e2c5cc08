package sctpsock

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// Address families as the Linux kernel numbers them. They are spelled out since this file
// is compiled on every system.
const (
	familyInet  = 2
	familyInet6 = 10

	sizeInet  = 16 // struct sockaddr_in
	sizeInet6 = 28 // struct sockaddr_in6
)

// parseSockaddr reads the struct sockaddr at the beginning of b and returns its length
// too; 0 if it is no IP address.
func parseSockaddr(b []byte) (netip.AddrPort, int) {
	if len(b) < 4 {
		return netip.AddrPort{}, 0
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == familyInet && len(b) >= sizeInet:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port), sizeInet
	case family == familyInet6 && len(b) >= sizeInet6:
		a := netip.AddrFrom16([16]byte(b[8:24])).Unmap()
		// The kernel names the interface of every address that it received from.
		if zone := binary.NativeEndian.Uint32(b[24:]); zone != 0 && a.IsLinkLocalUnicast() && a.Is6() {
			a = a.WithZone(strconv.FormatUint(uint64(zone), 10))
		}
		return netip.AddrPortFrom(a, port), sizeInet6
	}
	return netip.AddrPort{}, 0
}
