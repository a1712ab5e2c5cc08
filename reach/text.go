package reach

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A side as text is the prefix, and then these bytes in URL-safe base64 without
// padding. Integers are little-endian.
//
//	 0  1  version, 1
//	 1 16  network
//	17  1  number of addresses
//
// and then for each address
//
//	 0  1  4 or 6
//	 1  1  length of the subnet's prefix
//	 2  1  flags
//	 3  1  length of the interface's name
//	 4  4  index
//	 8  4  device
//	12  4  speed in Mbit/s
//	16     4 or 16 bytes of address, then the name
const (
	textPrefix    = "reach:"
	textVersion   = 1
	sideHead      = 18
	addressHead   = 16
	mostAddresses = 255
	mostName      = 63
	mostText      = 64 << 10
)

// ErrText is the cause of every error of [Side.UnmarshalText].
var ErrText = errors.New("not the text form of a host's addresses")

// IsText reports whether text looks like what [Side.MarshalText] writes.
func IsText(text string) bool { return strings.HasPrefix(text, textPrefix) }

// MarshalText writes a side in printable characters without spaces, fit to be
// pasted into a command line: about 40 of them for each address. What is held
// but not offered is left out. At most 255 addresses are allowed.
func (s Side) MarshalText() ([]byte, error) {
	if len(s.Addresses) > mostAddresses {
		return nil, fmt.Errorf("%d addresses, at most %d fit into the text form", len(s.Addresses), mostAddresses)
	}
	b := append([]byte{textVersion}, s.Network[:]...)
	b = append(b, byte(len(s.Addresses)))
	for _, a := range s.Addresses {
		if !a.Prefix.IsValid() {
			return nil, fmt.Errorf("interface %q: %v is not an address with a prefix length", a.Interface, a.Prefix)
		}
		b = appendAddress(b, a)
	}
	return base64.RawURLEncoding.AppendEncode([]byte(textPrefix), b), nil
}

func appendAddress(b []byte, a Address) []byte {
	family := byte(4)
	if a.Addr().Is6() {
		family = 6
	}
	name := strings.Map(printable, a.Interface)
	for len(name) > mostName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	b = append(b, family, byte(a.Prefix.Bits()), byte(a.Flags), byte(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Index))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Device))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Speed))
	b = append(b, a.Addr().AsSlice()...)
	return append(b, name...)
}

// printable replaces what would upset a terminal.
func printable(r rune) rune {
	if r == utf8.RuneError || !unicode.IsGraphic(r) {
		return '?'
	}
	return r
}

// UnmarshalText reads what MarshalText writes. Nothing of it is trusted; every
// error is an [ErrText].
func (s *Side) UnmarshalText(text []byte) error {
	side, err := parse(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrText, err)
	}
	*s = side
	return nil
}

func parse(text []byte) (Side, error) {
	if len(text) > mostText {
		return Side{}, fmt.Errorf("%d characters, at most %d are allowed", len(text), mostText)
	}
	if !IsText(string(text)) {
		return Side{}, fmt.Errorf("it does not begin with %q", textPrefix)
	}
	// The decoder skips line breaks, which a terminal may put into what is copied.
	b, err := base64.RawURLEncoding.Strict().AppendDecode(nil, text[len(textPrefix):])
	if err != nil {
		return Side{}, err
	}
	if len(b) < sideHead {
		return Side{}, fmt.Errorf("cut off after %d bytes", len(b))
	}
	if b[0] != textVersion {
		return Side{}, fmt.Errorf("version %d, this is version %d", b[0], textVersion)
	}
	s := Side{Network: Network(b[1:17])}
	count := int(b[17])
	b = b[sideHead:]
	for range count {
		a, rest, err := parseAddress(b)
		if err != nil {
			return Side{}, err
		}
		s.Addresses, b = append(s.Addresses, a), rest
	}
	if len(b) > 0 {
		return Side{}, fmt.Errorf("%d bytes too many", len(b))
	}
	return s, nil
}

var errCutOff = errors.New("cut off in an address")

// parseAddress reads one address and returns the bytes after it.
func parseAddress(b []byte) (Address, []byte, error) {
	if len(b) < addressHead {
		return Address{}, nil, errCutOff
	}
	size := 4
	switch b[0] {
	case 4:
	case 6:
		size = 16
	default:
		return Address{}, nil, fmt.Errorf("address family %d, allowed are 4 and 6", b[0])
	}
	end := addressHead + size + int(b[3])
	if len(b) < end {
		return Address{}, nil, errCutOff
	}
	ip, _ := netip.AddrFromSlice(b[addressHead : addressHead+size])
	a := Address{Prefix: netip.PrefixFrom(ip, int(b[1])), Flags: Flags(b[2]), Interface: string(b[addressHead+size : end])}
	if !a.Prefix.IsValid() || ip.Is4In6() || !usable(ip) {
		return Address{}, nil, fmt.Errorf("%v/%d is not the address of an interface", ip, b[1])
	}
	if a.Flags&^allFlags != 0 || len(a.Interface) > mostName || strings.Map(printable, a.Interface) != a.Interface {
		return Address{}, nil, fmt.Errorf("interface %q with flags %#x", a.Interface, b[2])
	}
	for i, field := range []*int{&a.Index, &a.Device, &a.Speed} {
		value := binary.LittleEndian.Uint32(b[4+4*i:])
		if value > 1<<31-1 {
			return Address{}, nil, fmt.Errorf("interface %q with a number out of range, %d", a.Interface, value)
		}
		*field = int(value)
	}
	return a, b[end:], nil
}
