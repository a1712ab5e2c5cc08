package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// An address is what a module publishes: how and where it can be reached.
//
//	 0  1  version, 1
//	 1  1  number of interface addresses, at most 64
//	 2  2  port, the same on all of them
//	 4 16  network identity
//	20  1  length of the host name, at most 255
//	21  n  host name
//
// and then for each interface address
//
//	 0  1  4 or 6
//	 1  1  length of the subnet's prefix, in bits
//	 2  1  length of the interface's name, at most 15
//	 3  1  0
//	 4  4  interface index
//	 8  4  speed in Mbit/s, 0 unknown
//	12     4 or 16 bytes of address, then the interface's name
type address struct {
	port    uint16
	network networkID
	host    string
	ifaces  []ifaddr
}

// An ifaddr is one address of one interface.
type ifaddr struct {
	prefix netip.Prefix // the address, and the length of its subnet's prefix
	index  int
	speed  int // Mbit/s, 0 if not known
	name   string
}

func (a ifaddr) String() string { return fmt.Sprintf("%s (%s)", a.prefix.Addr(), a.name) }

// networkID tells one network stack from all others: within it a loopback
// address leads to the same process for all.
type networkID [16]byte

const (
	addressVersion = 1
	addressHead    = 21
	ifaddrHead     = 12
	maxIfaddrs     = 64
	maxIfName      = 15
)

func (a *address) encode() []byte {
	host := a.host
	if len(host) > 255 {
		host = host[:255]
	}
	le := binary.LittleEndian
	b := []byte{addressVersion, byte(len(a.ifaces))}
	b = le.AppendUint16(b, a.port)
	b = append(b, a.network[:]...)
	b = append(b, byte(len(host)))
	b = append(b, host...)
	for _, i := range a.ifaces {
		family := byte(4)
		if i.prefix.Addr().Is6() {
			family = 6
		}
		name := i.name
		if len(name) > maxIfName {
			name = name[:maxIfName]
		}
		b = append(b, family, byte(i.prefix.Bits()), byte(len(name)), 0)
		b = le.AppendUint32(b, uint32(i.index))
		b = le.AppendUint32(b, uint32(i.speed))
		b = append(b, i.prefix.Addr().AsSlice()...)
		b = append(b, name...)
	}
	return b
}

var errAddress = errors.New("malformed address")

func decodeAddress(b []byte) (*address, error) {
	if len(b) < addressHead {
		return nil, fmt.Errorf("%w: %d bytes", errAddress, len(b))
	}
	if b[0] != addressVersion {
		return nil, fmt.Errorf("%w: version %d, this is version %d", errAddress, b[0], addressVersion)
	}
	count, hostLen := int(b[1]), int(b[20])
	if count > maxIfaddrs {
		return nil, fmt.Errorf("%w: %d interface addresses, at most %d are allowed", errAddress, count, maxIfaddrs)
	}
	a := &address{port: binary.LittleEndian.Uint16(b[2:]), network: networkID(b[4:20])}
	if a.port == 0 {
		return nil, fmt.Errorf("%w: port 0", errAddress)
	}
	b = b[addressHead:]
	if hostLen > len(b) {
		return nil, fmt.Errorf("%w: host name of %d bytes in %d", errAddress, hostLen, len(b))
	}
	a.host, b = plain(b[:hostLen]), b[hostLen:]
	for range count {
		i, n, err := decodeIfaddr(b)
		if err != nil {
			return nil, err
		}
		a.ifaces = append(a.ifaces, i)
		b = b[n:]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", errAddress, len(b))
	}
	return a, nil
}

// decodeIfaddr returns the number of bytes that the first interface address of
// b takes.
func decodeIfaddr(b []byte) (ifaddr, int, error) {
	if len(b) < ifaddrHead {
		return ifaddr{}, 0, fmt.Errorf("%w: cut off in an interface address", errAddress)
	}
	size := 4
	switch b[0] {
	case 4:
	case 6:
		size = 16
	default:
		return ifaddr{}, 0, fmt.Errorf("%w: address family %d, allowed are 4 and 6", errAddress, b[0])
	}
	nameLen := int(b[2])
	if b[3] != 0 || nameLen > maxIfName {
		return ifaddr{}, 0, fmt.Errorf("%w: interface name of %d bytes, at most %d are allowed", errAddress, nameLen, maxIfName)
	}
	n := ifaddrHead + size + nameLen
	if len(b) < n {
		return ifaddr{}, 0, fmt.Errorf("%w: cut off in an interface address", errAddress)
	}
	ip, _ := netip.AddrFromSlice(b[ifaddrHead : ifaddrHead+size])
	prefix := netip.PrefixFrom(ip, int(b[1]))
	if !prefix.IsValid() || ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() {
		return ifaddr{}, 0, fmt.Errorf("%w: %v/%d is not the address of an interface", errAddress, ip, b[1])
	}
	index, speed := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	const most = 1<<31 - 1
	if index > most || speed > most {
		return ifaddr{}, 0, fmt.Errorf("%w: interface index %d, speed %d", errAddress, index, speed)
	}
	return ifaddr{prefix: prefix, index: int(index), speed: int(speed), name: plain(b[n-nameLen : n])}, n, nil
}
