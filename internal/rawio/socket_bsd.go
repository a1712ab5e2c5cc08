//go:build unix && !linux

package rawio

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func stream(a netip.AddrPort) (int, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(family(a), unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("fcntl O_NONBLOCK", err)
	}
	return fd, nil
}

// Accept takes a connection, as a non-blocking socket, and tells where it comes
// from. EAGAIN means that there is none.
func Accept(listener int) (int, netip.AddrPort, error) {
	syscall.ForkLock.RLock()
	fd, sa, err := unix.Accept(listener)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, netip.AddrPort{}, os.NewSyscallError("accept", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, netip.AddrPort{}, os.NewSyscallError("fcntl O_NONBLOCK", err)
	}
	return fd, addrPortOf(sa), nil
}

// bufferFactor: see socket_linux.go.
const bufferFactor = 1

// Congestion is for Linux only.
func Congestion(int) string { return "" }

// SetCongestion is for Linux only.
func SetCongestion(int, string) error {
	return os.NewSyscallError("setsockopt TCP_CONGESTION", unix.ENOPROTOOPT)
}

// SetUserTimeout is for Linux only.
func SetUserTimeout(int, time.Duration) error {
	return os.NewSyscallError("setsockopt TCP_USER_TIMEOUT", unix.ENOPROTOOPT)
}

// SetUnsent is for Linux only.
func SetUnsent(int, int) error {
	return os.NewSyscallError("setsockopt TCP_NOTSENT_LOWAT", unix.ENOPROTOOPT)
}

// Unacknowledged returns -1: it can not be known here.
func Unacknowledged(int) int { return -1 }

func shareLocalPort(int) {}

// interfaceNumber returns the kernel's number of an interface, 0 if there is none of that name.
func interfaceNumber(_ int, name string) uint32 {
	nic, err := net.InterfaceByName(name)
	if err != nil {
		return 0
	}
	return uint32(nic.Index)
}
