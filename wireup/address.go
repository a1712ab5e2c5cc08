package wireup

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
//	 0  1  version, 3
//	 1  1  number of interfaces, at most 64
//	 2  2  port, the same on all of them
//	 4 16  network identity
//	20  1  length of the host name, at most 64
//	21  n  host name
//
// and then for each interface, with n for whole numbers in 7 bits a byte, the lowest
// first, as encoding/binary has them
//
//	0  1  flags: 1 no carrier, 2 point to point, 4 loopback, 8 tunnel, 16 bridge without a card
//	1  1  number of addresses, at most 64 of all interfaces
//	2  1  length of the interface's name, at most 15
//	3     the name
//	   n  interface index
//	   n  index of the interface that it sends through, 0 none
//	   n  speed in Mbit/s, 0 unknown
//
// with, for each of its addresses
//
//	0  1  IPv4: 192 + the length of the subnet's prefix in bits; then 4 bytes of address.
//	      IPv6: the length alone; then two bytes with a bit for each of the address's 16,
//	      the lowest bit for the first byte. A bit is set where the byte differs from that
//	      of the IPv6 address before it, the first time from ::. Then these bytes, each
//	      exclusive or'ed with the one that it differs from.
type Address struct {
	Port       uint16
	Network    reach.Network
	Host       string
	Interfaces []reach.Address
}

// Side is the address in the form that package reach works with.
func (a *Address) Side() reach.Side { return reach.Side{Network: a.Network, Addresses: a.Interfaces} }

// Holds reports whether an address, whatever its zone, is one of a's.
func (a *Address) Holds(ip netip.Addr) bool {
	ip = ip.WithZone("")
	return slices.ContainsFunc(a.Interfaces, func(i reach.Address) bool { return i.Addr() == ip })
}

// Sizes in bytes, and bounds.
const (
	headSize      = 21 // of an address, without the host name and what follows
	interfaceSize = 3  // of an interface, without its name and what follows
	MaxInterfaces = 64 // and addresses
	// MaxSize is the most that an address takes if its interfaces are those of [Fit]. The
	// addresses of three transports then fit into one hello of the message layer.
	MaxSize = 1280
)

const (
	addressVersion = 3
	maxIfName      = 15
	maxHost        = 64
	family4        = 192
)

// Encode returns its bytes.
func (a *Address) Encode() []byte {
	host := cutTo(a.Host, maxHost)
	b := []byte{addressVersion, 0}
	b = binary.LittleEndian.AppendUint16(b, a.Port)
	b = append(b, a.Network[:]...)
	b = append(b, byte(len(host)))
	b = append(b, host...)
	var last [16]byte
	for rest := a.Interfaces; len(rest) > 0; b[1]++ {
		n := 1
		for n < len(rest) && sameInterface(rest[0], rest[n]) {
			n++
		}
		b = appendInterface(b, rest[:n], &last)
		rest = rest[n:]
	}
	return b
}

func cutTo(s string, most int) string { return s[:min(len(s), most)] }

// sameInterface reports whether two addresses differ in nothing but the address.
func sameInterface(a, b reach.Address) bool {
	b.Prefix = a.Prefix
	return a == b
}

// appendInterface encodes the addresses of one interface. Last is the IPv6 address
// before them.
func appendInterface(b []byte, addrs []reach.Address, last *[16]byte) []byte {
	i := addrs[0]
	name := cutTo(i.Interface, maxIfName)
	b = append(b, byte(i.Flags), byte(len(addrs)), byte(len(name)))
	b = append(b, name...)
	for _, n := range []int{i.Index, i.Device, i.Speed} {
		b = binary.AppendUvarint(b, uint64(uint32(n)))
	}
	for _, a := range addrs {
		if ip := a.Addr(); ip.Is4() {
			b = append(append(b, byte(family4+a.Prefix.Bits())), ip.AsSlice()...)
			continue
		}
		b = append(b, byte(a.Prefix.Bits()), 0, 0)
		head, now := len(b), a.Addr().As16()
		for at := range now {
			if differs := now[at] ^ last[at]; differs != 0 {
				b[head-2+at/8] |= 1 << (at % 8)
				b = append(b, differs)
			}
		}
		*last = now
	}
	return b
}

// ErrAddress is the cause of every error of [Decode]: the bytes are not from [Address.Encode].
var ErrAddress = errors.New("malformed address")

// Decode reads an address that came from another process.
func Decode(b []byte) (*Address, error) {
	if len(b) < headSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrAddress, len(b))
	}
	if b[0] != addressVersion {
		return nil, fmt.Errorf("%w: version %d, this is version %d", ErrAddress, b[0], addressVersion)
	}
	count, hostLen := int(b[1]), int(b[20])
	if count > MaxInterfaces {
		return nil, fmt.Errorf("%w: %d interfaces, at most %d are allowed", ErrAddress, count, MaxInterfaces)
	}
	a := &Address{Port: binary.LittleEndian.Uint16(b[2:]), Network: reach.Network(b[4:20])}
	if a.Port == 0 {
		return nil, fmt.Errorf("%w: port 0", ErrAddress)
	}
	d := decoder{b: b[headSize:]}
	if hostLen > maxHost {
		return nil, fmt.Errorf("%w: host name of %d bytes, at most %d are allowed", ErrAddress, hostLen, maxHost)
	}
	a.Host = Plain(d.take(hostLen))
	for range count {
		a.Interfaces = d.nextInterface(a.Interfaces)
	}
	if d.err == nil && len(d.b) != 0 {
		d.fail("%d bytes too many", len(d.b))
	}
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

// A decoder takes bytes from the front of b, and remembers what was wrong first.
type decoder struct {
	b    []byte
	last [16]byte // the IPv6 address before the next one
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrAddress, fmt.Sprintf(format, args...))
	}
	d.b = nil
}

// take returns n bytes, zeros where there are too few.
func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail("cut off")
		return make([]byte, n)
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) number() int {
	value, n := binary.Uvarint(d.b)
	if n <= 0 || value > 1<<31-1 {
		d.fail("interface index, device or speed is cut off or out of range")
		return 0
	}
	d.b = d.b[n:]
	return int(value)
}

// nextInterface appends the addresses of one interface.
func (d *decoder) nextInterface(all []reach.Address) []reach.Address {
	head := d.take(interfaceSize)
	flags, count, nameLen := reach.Flags(head[0]), int(head[1]), int(head[2])
	switch {
	case !flags.Valid():
		d.fail("interface flags %#02x, which are not all known", head[0])
	case nameLen > maxIfName:
		d.fail("interface name of %d bytes, at most %d are allowed", nameLen, maxIfName)
	case len(all)+count > MaxInterfaces:
		d.fail("more than %d addresses", MaxInterfaces)
	}
	if d.err != nil {
		return all
	}
	common := reach.Address{Flags: flags, Interface: Plain(d.take(nameLen))}
	common.Index, common.Device, common.Speed = d.number(), d.number(), d.number()
	for range count {
		common.Prefix = d.prefix()
		all = append(all, common)
	}
	return all
}

// prefix takes an address with its subnet.
func (d *decoder) prefix() netip.Prefix {
	bits := int(d.take(1)[0])
	var ip netip.Addr
	if bits >= family4 {
		bits -= family4
		ip = netip.AddrFrom4([4]byte(d.take(4)))
	} else {
		mask := binary.LittleEndian.Uint16(d.take(2))
		for at := range d.last {
			if mask&(1<<at) != 0 {
				d.last[at] ^= d.take(1)[0]
			}
		}
		ip = netip.AddrFrom16(d.last)
	}
	p := netip.PrefixFrom(ip, bits)
	if !p.IsValid() || ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() {
		d.fail("%v/%d is not the address of an interface", ip, bits)
	}
	return p
}
