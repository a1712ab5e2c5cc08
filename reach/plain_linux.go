package reach

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readPlain reads the network namespace of the calling thread without netlink: IPv4 by
// ioctl, IPv6 by /proc, and the kind of an interface by the name of its driver. The
// standard library is no help, since it needs netlink too.
func readPlain() (Side, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Side{}, fmt.Errorf("opening a socket to ask for the network interfaces: %w", err)
	}
	defer unix.Close(fd)
	found, err4 := plain4(fd)
	more, err6 := plain6()
	speeds := speedometer{fd}
	var side Side
	for _, p := range append(found, more...) {
		if common, up := plainInterface(fd, p.name, speeds); up {
			side.add(common, []netip.Prefix{p.prefix})
		}
	}
	if len(side.Addresses) == 0 && err4 != nil { // that may be why: interfaces are asked for in the same way as IPv4's addresses
		return Side{}, errors.Join(err4, err6)
	}
	slices.SortStableFunc(side.Addresses, func(a, b Address) int { return a.Index - b.Index })
	return side, nil
}

// plainAddress is an address and its interface.
type plainAddress struct {
	name   string
	prefix netip.Prefix
}

// plainInterface asks for what addresses of one interface have in common.
func plainInterface(fd int, name string, speeds speedometer) (a Address, up bool) {
	request, err := unix.NewIfreq(name)
	if err != nil || unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request) != nil {
		return a, false
	}
	raw := uint32(request.Uint16())
	if raw&unix.IFF_RUNNING != 0 {
		raw |= unix.IFF_LOWER_UP // the kernel's answer has 16 bits, and no room for this one
	}
	a = Address{Interface: name, Speed: speeds.read(name), Flags: flagsOf(raw)}
	if unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request) == nil {
		a.Index = int(request.Uint32())
	}
	if driver, err := unix.IoctlGetEthtoolDrvinfo(fd, name); err == nil {
		switch kind := unix.ByteSliceToString(driver.Driver[:]); {
		case tunnels[kind]:
			a.Flags |= Tunnel
		case kind == "bridge":
			a.Flags |= plainBridge(name)
		}
	}
	return a, raw&unix.IFF_UP != 0
}

// plainBridge says whether a bridge has no card in it, as far as /sys tells of this
// namespace.
func plainBridge(name string) Flags {
	ports, err := os.ReadDir("/sys/class/net/" + name + "/brif")
	if err != nil {
		return 0
	}
	for _, port := range ports {
		if _, err := os.Stat("/sys/class/net/" + port.Name() + "/device"); err == nil {
			return 0
		}
	}
	return Enclosed
}

// plain4 lists the IPv4 addresses (SIOCGIFCONF).
func plain4(fd int) ([]plainAddress, error) {
	// struct ifreq: a name, and a union as large as struct ifmap.
	type entry struct {
		name  [unix.IFNAMSIZ]byte
		union [2*unsafe.Sizeof(uintptr(0)) + 8]byte
	}
	entries := make([]entry, 1024)
	list := struct {
		size int32
		data unsafe.Pointer
	}{int32(len(entries)) * int32(unsafe.Sizeof(entries[0])), unsafe.Pointer(&entries[0])}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCGIFCONF, uintptr(unsafe.Pointer(&list))); errno != 0 {
		return nil, fmt.Errorf("listing the network interfaces: %w", errno)
	}
	var all []plainAddress
	for _, e := range entries[:uintptr(list.size)/unsafe.Sizeof(entries[0])] {
		ip := netip.AddrFrom4([4]byte(e.union[4:8])) // behind family and port
		request, err := unix.NewIfreq(unix.ByteSliceToString(e.name[:]))
		if err != nil || !usable(ip) {
			continue
		}
		label := request.Name()
		bits := 32
		// The address tells which of several is meant.
		if request.SetInet4Addr(ip.AsSlice()) == nil && unix.IoctlIfreq(fd, unix.SIOCGIFNETMASK, request) == nil {
			if mask, err := request.Inet4Addr(); err == nil {
				bits = ones(mask)
			}
		}
		name, _, _ := strings.Cut(label, ":") // eth0:1 is an alias
		all = append(all, plainAddress{name, netip.PrefixFrom(ip, bits)})
	}
	return all, nil
}

// ones is the length of a mask.
func ones(mask []byte) (n int) {
	for _, b := range mask {
		for ; b&0x80 != 0; b <<= 1 {
			n++
		}
	}
	return n
}

// plain6 lists the IPv6 addresses.
func plain6() ([]plainAddress, error) {
	text, err := os.ReadFile("/proc/thread-self/net/if_inet6")
	if err != nil {
		return nil, fmt.Errorf("listing the IPv6 addresses: %w", err)
	}
	var all []plainAddress
	for line := range strings.Lines(string(text)) {
		// Address, index, length of the prefix, scope, flags, name; numbers are hexadecimal.
		words := strings.Fields(line)
		if len(words) != 6 {
			continue
		}
		raw, err := hex.DecodeString(words[0])
		ip, ok := netip.AddrFromSlice(raw)
		bits, err2 := strconv.ParseUint(words[2], 16, 8)
		flags, err3 := strconv.ParseUint(words[4], 16, 32)
		if !ok || errors.Join(err, err2, err3) != nil || !usable(ip) || !ready(ip, uint32(flags)) {
			continue
		}
		all = append(all, plainAddress{words[5], netip.PrefixFrom(ip, int(bits))})
	}
	return all, nil
}
