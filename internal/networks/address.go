package networks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/strandmp/strand/reach"
)

// An Address is what a module publishes: how and where it can be reached.
//
//	 0  1  version, 2
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
//	 3  1  flags: 1 no carrier, 2 point to point, 4 loopback, 8 tunnel, 16 bridge without a card
//	 4  4  interface index
//	 8  4  index of the interface that it sends through, 0 none
//	12  4  speed in Mbit/s, 0 unknown
//	16     4 or 16 bytes of address, then the interface's name
type Address struct {
	Port       uint16
	Network    reach.Network
	Host       string
	Interfaces []reach.Address
}

// Side is what package reach has to know of it.
func (a *Address) Side() reach.Side { return reach.Side{Network: a.Network, Addresses: a.Interfaces} }

// Holds reports whether an address, whatever its zone, is one of a's.
func (a *Address) Holds(ip netip.Addr) bool {
	ip = ip.WithZone("")
	return slices.ContainsFunc(a.Interfaces, func(i reach.Address) bool { return i.Addr() == ip })
}

// Sizes in bytes, and bounds.
const (
	HeadSize      = 21 // of an address, without the host name and what follows
	InterfaceSize = 16 // of an interface, without its address and its name
	MaxInterfaces = 64
)

const (
	addressVersion = 2
	maxIfName      = 15
)

// Encode returns its bytes, at most 4096.
func (a *Address) Encode() []byte {
	host := a.Host
	if len(host) > 255 {
		host = host[:255]
	}
	le := binary.LittleEndian
	b := []byte{addressVersion, byte(len(a.Interfaces))}
	b = le.AppendUint16(b, a.Port)
	b = append(b, a.Network[:]...)
	b = append(b, byte(len(host)))
	b = append(b, host...)
	for _, i := range a.Interfaces {
		family := byte(4)
		if i.Addr().Is6() {
			family = 6
		}
		name := i.Interface
		if len(name) > maxIfName {
			name = name[:maxIfName]
		}
		b = append(b, family, byte(i.Prefix.Bits()), byte(len(name)), byte(i.Flags))
		b = le.AppendUint32(b, uint32(i.Index))
		b = le.AppendUint32(b, uint32(i.Device))
		b = le.AppendUint32(b, uint32(i.Speed))
		b = append(b, i.Addr().AsSlice()...)
		b = append(b, name...)
	}
	return b
}

// ErrAddress: not what Encode makes.
var ErrAddress = errors.New("malformed address")

// Decode reads an address that came from another process.
func Decode(b []byte) (*Address, error) {
	if len(b) < HeadSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrAddress, len(b))
	}
	if b[0] != addressVersion {
		return nil, fmt.Errorf("%w: version %d, this is version %d", ErrAddress, b[0], addressVersion)
	}
	count, hostLen := int(b[1]), int(b[20])
	if count > MaxInterfaces {
		return nil, fmt.Errorf("%w: %d interface addresses, at most %d are allowed", ErrAddress, count, MaxInterfaces)
	}
	a := &Address{Port: binary.LittleEndian.Uint16(b[2:]), Network: reach.Network(b[4:20])}
	if a.Port == 0 {
		return nil, fmt.Errorf("%w: port 0", ErrAddress)
	}
	b = b[HeadSize:]
	if hostLen > len(b) {
		return nil, fmt.Errorf("%w: host name of %d bytes in %d", ErrAddress, hostLen, len(b))
	}
	a.Host, b = Plain(b[:hostLen]), b[hostLen:]
	for range count {
		i, n, err := decodeIfaddr(b)
		if err != nil {
			return nil, err
		}
		a.Interfaces = append(a.Interfaces, i)
		b = b[n:]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrAddress, len(b))
	}
	return a, nil
}

// decodeIfaddr returns the number of bytes that the first interface address of
// b takes.
func decodeIfaddr(b []byte) (reach.Address, int, error) {
	if len(b) < InterfaceSize {
		return reach.Address{}, 0, fmt.Errorf("%w: cut off in an interface address", ErrAddress)
	}
	size := 4
	switch b[0] {
	case 4:
	case 6:
		size = 16
	default:
		return reach.Address{}, 0, fmt.Errorf("%w: address family %d, allowed are 4 and 6", ErrAddress, b[0])
	}
	nameLen := int(b[2])
	if nameLen > maxIfName {
		return reach.Address{}, 0, fmt.Errorf("%w: interface name of %d bytes, at most %d are allowed", ErrAddress, nameLen, maxIfName)
	}
	flags := reach.Flags(b[3])
	if !flags.Valid() {
		return reach.Address{}, 0, fmt.Errorf("%w: interface flags %#02x, which are not all known", ErrAddress, b[3])
	}
	n := InterfaceSize + size + nameLen
	if len(b) < n {
		return reach.Address{}, 0, fmt.Errorf("%w: cut off in an interface address", ErrAddress)
	}
	ip, _ := netip.AddrFromSlice(b[InterfaceSize : InterfaceSize+size])
	prefix := netip.PrefixFrom(ip, int(b[1]))
	if !prefix.IsValid() || ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() {
		return reach.Address{}, 0, fmt.Errorf("%w: %v/%d is not the address of an interface", ErrAddress, ip, b[1])
	}
	a := reach.Address{Prefix: prefix, Interface: Plain(b[n-nameLen : n]), Flags: flags}
	for at, field := range []*int{&a.Index, &a.Device, &a.Speed} {
		value := binary.LittleEndian.Uint32(b[4+4*at:])
		if value > 1<<31-1 {
			return reach.Address{}, 0, fmt.Errorf("%w: interface index, device or speed %d is out of range", ErrAddress, value)
		}
		*field = int(value)
	}
	return a, n, nil
}
