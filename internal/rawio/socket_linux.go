package rawio

import (
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func stream(a netip.AddrPort) (int, error) {
	fd, err := unix.Socket(family(a), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	return fd, nil
}

// Accept takes a connection, as a non-blocking socket, and tells where it comes
// from. EAGAIN means that there is none.
func Accept(listener int) (int, netip.AddrPort, error) {
	fd, sa, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return -1, netip.AddrPort{}, os.NewSyscallError("accept", err)
	}
	return fd, addrPortOf(sa), nil
}

// SetCongestion chooses the congestion control by the kernel's name for it.
func SetCongestion(fd int, name string) error {
	return os.NewSyscallError("setsockopt TCP_CONGESTION",
		unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name))
}

// Congestion returns the kernel's name of the congestion control, "" if it does not
// tell.
func Congestion(fd int) string {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return ""
	}
	return name
}

// SetUserTimeout has the system end the connection when what was sent stays
// unacknowledged for so long (RFC 5482), in whole milliseconds.
func SetUserTimeout(fd int, d time.Duration) error {
	return os.NewSyscallError("setsockopt TCP_USER_TIMEOUT",
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, max(int(d/time.Millisecond), 1)))
}

// SetUnsent bounds the bytes that the system holds and has not sent yet.
func SetUnsent(fd, n int) error {
	return os.NewSyscallError("setsockopt TCP_NOTSENT_LOWAT", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n))
}

// bufferFactor is the ratio of the size that the system reports for a buffer to the size
// that was asked for: Linux doubles it, for its own bookkeeping (socket(7)).
const bufferFactor = 2

const keepIdle = unix.TCP_KEEPIDLE

// Unacknowledged returns the bytes, the end of the stream included, that the
// peer's kernel has not acknowledged; -1 if that can not be known.
func Unacknowledged(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	if err != nil {
		return -1
	}
	return n
}

// shareLocalPort leaves the choice of the local port to connect. A port that bind chooses
// could not be shared with connections to other targets.
func shareLocalPort(fd int) {
	// Without the option (Linux before 4.2) ports only run out sooner.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
}

// interfaceNumber returns the kernel's number of an interface, 0 if there is none of that name. [net.InterfaceByName] needs netlink,
// which some sandboxes refuse.
func interfaceNumber(fd int, name string) uint32 {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return 0
	}
	if fd == none {
		if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil { // any family will do
			return 0
		}
		defer unix.Close(fd)
	}
	if unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request) != nil {
		return 0
	}
	return request.Uint32()
}
