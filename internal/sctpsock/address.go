//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"github.com/ishidawataru/sctp"
	"golang.org/x/sys/unix"
)

// encode makes what bindx and connectx take: one struct sockaddr after the other.
func (s *Socket) encode(addrs []netip.Addr, port uint16) ([]byte, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address")
	}
	a := sctp.SCTPAddr{Port: int(port)}
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !addr.IsValid() || addr.Is6() && s.inet {
			return nil, fmt.Errorf("address %v: %w", addr, unix.EAFNOSUPPORT)
		}
		a.IPAddrs = append(a.IPAddrs, net.IPAddr{IP: addr.AsSlice(), Zone: addr.Zone()})
	}
	return a.ToRawSockAddrBuf(), nil
}

// Bind binds the socket to all the addresses at one port, and returns the port; 0
// lets the kernel choose one.
func (s *Socket) Bind(addrs []netip.Addr, port uint16) (uint16, error) {
	if len(addrs) == 0 {
		return 0, errors.New("bindx: no address")
	}
	// The kernel takes several addresses at once only if the port is given. So the first
	// is bound alone: if need be, the kernel chooses the port for it.
	for _, some := range [][]netip.Addr{addrs[:1], addrs[1:]} {
		if len(some) == 0 {
			break
		}
		b, err := s.encode(some, port)
		if err == nil {
			err = s.set("SCTP_SOCKOPT_BINDX_ADD", sctp.SCTP_SOCKOPT_BINDX_ADD, b)
		}
		if err != nil {
			return 0, fmt.Errorf("bindx %v port %d: %w", some, port, err)
		}
		if port, err = s.port(); err != nil {
			return 0, err
		}
	}
	return port, nil
}

func (s *Socket) port() (uint16, error) {
	name, err := unix.Getsockname(s.fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	switch a := name.(type) {
	case *unix.SockaddrInet4:
		return uint16(a.Port), nil
	case *unix.SockaddrInet6:
		return uint16(a.Port), nil
	}
	return 0, fmt.Errorf("getsockname: an address of kind %T", name)
}

// Connect begins an association with a peer that has all these addresses. The
// error is EISCONN if there is one with the peer already. It is nil once the attempt
// is under way: a notification tells how it goes on.
func (s *Socket) Connect(addrs []netip.Addr, port uint16) (AssocID, error) {
	b, err := s.encode(addrs, port)
	if err != nil {
		return 0, err
	}
	// struct sctp_getaddrs_old, whose first field becomes the association's number.
	param := &struct {
		assoc int32
		size  int32
		addrs *byte
	}{size: int32(len(b)), addrs: &b[0]}
	size := uint32(unsafe.Sizeof(*param))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), solSCTP, sctp.SCTP_SOCKOPT_CONNECTX3,
		uintptr(unsafe.Pointer(param)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 && errno != syscall.EINPROGRESS {
		return 0, os.NewSyscallError("connectx", errno)
	}
	return AssocID(param.assoc), nil
}

// PeerAddrs returns the addresses of an association's peer.
func (s *Socket) PeerAddrs(id AssocID) ([]netip.AddrPort, error) {
	return s.addrs("SCTP_GET_PEER_ADDRS", sctp.SCTP_GET_PEER_ADDRS, id)
}

// LocalAddrs returns the socket's own addresses in an association, or, for 0, all of
// the socket's.
func (s *Socket) LocalAddrs(id AssocID) ([]netip.AddrPort, error) {
	return s.addrs("SCTP_GET_LOCAL_ADDRS", sctp.SCTP_GET_LOCAL_ADDRS, id)
}

func (s *Socket) addrs(name string, option int, id AssocID) ([]netip.AddrPort, error) {
	var b [4096]byte // struct sctp_getaddrs
	binary.NativeEndian.PutUint32(b[:], uint32(id))
	n, err := s.get(name, option, b[:])
	if err != nil {
		return nil, err
	}
	if n < 8 {
		return nil, fmt.Errorf("getsockopt %s: %d bytes, want at least 8", name, n)
	}
	// N is no measure of what was written: for local addresses the kernel does not count the
	// header.
	count := binary.NativeEndian.Uint32(b[4:])
	return parseSockaddrs(b[8:], int(count))
}

// parseSockaddrs reads count addresses, which may be of different families.
func parseSockaddrs(b []byte, count int) ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	for range count {
		a, size := parseSockaddr(b)
		if size == 0 {
			return nil, fmt.Errorf("SCTP addresses: the kernel names %d, of which %d can be read", count, len(all))
		}
		all = append(all, a)
		b = b[size:]
	}
	return all, nil
}
