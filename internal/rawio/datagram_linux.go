//go:build linux && (386 || amd64 || arm || arm64 || riscv64)

package rawio

import (
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Destination is an address as the kernel takes it.
type Destination struct {
	raw  unix.RawSockaddrInet6 // has room for either family
	size uint32
}

// NewDestination prepares an address.
func NewDestination(a netip.AddrPort) Destination {
	var d Destination
	port := a.Port()<<8 | a.Port()>>8
	if a.Addr().Is4() {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&d.raw))
		v4.Family, v4.Port, v4.Addr = unix.AF_INET, port, a.Addr().As4()
		d.size = unix.SizeofSockaddrInet4
		return d
	}
	d.raw.Family, d.raw.Port, d.raw.Addr = unix.AF_INET6, port, a.Addr().As16()
	d.raw.Scope_id = zoneID(none, a.Addr().Zone())
	d.size = unix.SizeofSockaddrInet6
	return d
}

// SendTo sends a datagram without waiting.
func SendTo(fd int, b []byte, to *Destination) syscall.Errno {
	for {
		_, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL,
			uintptr(unsafe.Pointer(&to.raw)), uintptr(to.size))
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// An Origin receives the address that a datagram came from. It must live on the
// heap: the kernel writes to it by its address.
type Origin struct {
	raw  unix.RawSockaddrInet6
	size uint32
}

// RecvFrom receives a datagram without waiting; what does not fit is cut off.
func RecvFrom(fd int, b []byte, from *Origin) (int, syscall.Errno) {
	for {
		from.size = unix.SizeofSockaddrInet6
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT,
			uintptr(unsafe.Pointer(&from.raw)), uintptr(unsafe.Pointer(&from.size)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// AddrPort returns the address.
func (o *Origin) AddrPort() netip.AddrPort {
	port := o.raw.Port<<8 | o.raw.Port>>8
	if o.raw.Family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&o.raw))
		return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), port)
	}
	ip := netip.AddrFrom16(o.raw.Addr)
	if o.raw.Scope_id != 0 {
		ip = ip.WithZone(strconv.FormatUint(uint64(o.raw.Scope_id), 10))
	}
	return netip.AddrPortFrom(ip, port)
}

// Is reports whether the address is that of a destination. It takes less than to make an [netip.AddrPort] and compare that,
// and allocates nothing, whatever zone there is.
func (o *Origin) Is(d *Destination) bool {
	if o.raw.Family != d.raw.Family || o.raw.Port != d.raw.Port {
		return false
	}
	if o.raw.Family == unix.AF_INET {
		return (*unix.RawSockaddrInet4)(unsafe.Pointer(&o.raw)).Addr == (*unix.RawSockaddrInet4)(unsafe.Pointer(&d.raw)).Addr
	}
	return o.raw.Addr == d.raw.Addr && o.raw.Scope_id == d.raw.Scope_id
}

// reportErrors has the kernel keep what the network answers, for NextFailure.
func reportErrors(fd int, v6 bool) {
	if v6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1)
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1)
}

// NextFailure returns the oldest answer of the network that says that a datagram
// of ours did not arrive, if there is any.
func NextFailure(fd int) (Failure, bool) {
	var sent [576]byte
	var control [128]byte
	n, oobn, _, from, err := unix.Recvmsg(fd, sent[:], control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return Failure{}, false
	}
	f := Failure{To: addrPortOf(from), Sent: sent[:n]}
	messages, err := unix.ParseSocketControlMessage(control[:oobn])
	if err != nil {
		return f, true
	}
	for _, m := range messages {
		if len(m.Data) >= 4 && (m.Header.Level == unix.IPPROTO_IP || m.Header.Level == unix.IPPROTO_IPV6) {
			f.Code = syscall.Errno(*(*uint32)(unsafe.Pointer(&m.Data[0]))) // sock_extended_err.ee_errno
		}
	}
	return f, true
}

// SendCut sends a datagram that the network may cut, over a socket of [KeepWhole]. Routers cut those of IPv4. Those of IPv6 the system
// cuts, once a router has told how long they may be.
func SendCut(fd int, b []byte, to *Destination, v6 bool) syscall.Errno {
	if v6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DONT)
	} else {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT)
	}
	defer KeepWhole(fd, v6)
	return SendTo(fd, b, to)
}

// KeepWhole has packets that are too long for the network dropped instead of cut, and says nothing of it,
// so that their sender finds out how long they may be (RFC 8899).
func KeepWhole(fd int, v6 bool) {
	if v6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
}
