//go:build unix

package rawio

import (
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Supported says whether this system has what the package needs.
const Supported = true

// Listen makes a non-blocking listening socket on exactly this address; port 0
// lets the system choose one.
func Listen(at netip.AddrPort, backlog int) (int, error) {
	fd, err := stream(at)
	if err != nil {
		return -1, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("setsockopt SO_REUSEADDR", err)
	}
	if at.Addr().Is6() {
		// The same port must be free for the IPv4 addresses.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			unix.Close(fd)
			return -1, os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	if err := unix.Bind(fd, sockaddrOf(fd, at)); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("listen", err)
	}
	return fd, nil
}

// Stream makes a non-blocking socket for connecting to an address of to's
// family.
func Stream(to netip.AddrPort) (int, error) { return stream(to) }

// Connect starts to connect the socket and reports whether it is connected already.
// From is the source address; the zero value, or an unspecified one, leaves it to the
// system. If the socket is not connected yet, it becomes writable when [SocketError]
// can tell how the attempt went.
func Connect(fd int, from netip.Addr, to netip.AddrPort) (bool, error) {
	if from.IsValid() && !from.IsUnspecified() {
		shareLocalPort(fd)
		if err := unix.Bind(fd, sockaddrOf(fd, netip.AddrPortFrom(from, 0))); err != nil {
			return false, os.NewSyscallError("bind", err)
		}
	}
	err := unix.Connect(fd, sockaddrOf(fd, to))
	switch err {
	case nil:
		return true, nil
	case unix.EINPROGRESS, unix.EINTR:
		return false, nil
	}
	return false, os.NewSyscallError("connect", err)
}

// SocketError returns, and clears, the error of a connection attempt.
func SocketError(fd int) error {
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return os.NewSyscallError("getsockopt SO_ERROR", err)
	}
	if errno != 0 {
		return os.NewSyscallError("connect", unix.Errno(errno))
	}
	return nil
}

// LocalAddr returns the socket's own address, the zero value if it has none.
func LocalAddr(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPortOf(sa)
}

// ShutdownWrite says that no more is sent: the peer reads the end of the stream
// after what was sent before.
func ShutdownWrite(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) }

// Close closes a descriptor.
func Close(fd int) { unix.Close(fd) }

// Reset closes a connected descriptor with a reset: what the system still has to
// send is dropped.
func Reset(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	unix.Close(fd)
}

// SetNoDelay switches Nagle's algorithm off (true) or on.
func SetNoDelay(fd int, on bool) error {
	v := 0
	if on {
		v = 1
	}
	return os.NewSyscallError("setsockopt TCP_NODELAY", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, v))
}

// SetSegment has a connection that is still to be made, or those that a listener accepts from now on, carry segments of at most so many
// bytes, without headers, in both directions (TCP_MAXSEG).
func SetSegment(fd, bytes int) error {
	return os.NewSyscallError("setsockopt TCP_MAXSEG", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, bytes))
}

// SetKeepalive makes the system ask after a silence of idle whether the peer is
// there, and again every interval. When it has asked count times in vain it ends the
// connection. Times are rounded up to whole seconds, at least one.
func SetKeepalive(fd int, idle, interval time.Duration, count int) error {
	for _, option := range []struct {
		name              string
		level, opt, value int
	}{
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, keepIdle, seconds(idle)},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, seconds(interval)},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, count},
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
	} {
		if err := unix.SetsockoptInt(fd, option.level, option.opt, option.value); err != nil {
			return os.NewSyscallError("setsockopt "+option.name, err)
		}
	}
	return nil
}

// seconds rounds up.
func seconds(d time.Duration) int { return max(int((d+time.Second-1)/time.Second), 1) }

// SetSendBuffer fixes the size of the system's send buffer, in bytes.
func SetSendBuffer(fd, n int) error {
	return os.NewSyscallError("setsockopt SO_SNDBUF", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n))
}

// SetReceiveBuffer fixes the size of the system's receive buffer, in bytes.
func SetReceiveBuffer(fd, n int) error {
	return os.NewSyscallError("setsockopt SO_RCVBUF", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, n))
}

// SendBuffer returns the size of the system's send buffer as [SetSendBuffer]
// counts it.
func SendBuffer(fd int) (int, error) { return bufferSize(fd, unix.SO_SNDBUF) }

// ReceiveBuffer returns the size of the system's receive buffer as
// [SetReceiveBuffer] counts it.
func ReceiveBuffer(fd int) (int, error) { return bufferSize(fd, unix.SO_RCVBUF) }

func bufferSize(fd, option int) (int, error) {
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	return n / bufferFactor, os.NewSyscallError("getsockopt", err)
}

// WaitAny blocks until one of the descriptors is readable, has failed or has
// ended, for at most the given number of milliseconds.
func WaitAny(fds []int, milliseconds int) {
	set := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		set[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	// An interrupted or failed wait is only a shorter one.
	_, _ = unix.Poll(set, milliseconds)
}

func family(a netip.AddrPort) int {
	if a.Addr().Is6() {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

// zoneID returns the kernel's number of a zone, which is the name or the number of an
// interface. It returns 0 if there is no such interface (any more). The kernel refuses
// 0 for a link-local address. It is asked by way of the socket fd: where that is none another one is
// opened for it, and may not be had.
func zoneID(fd int, zone string) uint32 {
	if zone == "" {
		return 0
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n)
	}
	return interfaceNumber(fd, zone)
}

// none stands for a socket that there is not.
const none = -1

func sockaddrOf(fd int, a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is6() {
		return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zoneID(fd, a.Addr().Zone())}
	}
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
}

func addrPortOf(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(sa.Addr).Unmap()
		if sa.ZoneId != 0 && ip.Is6() {
			ip = ip.WithZone(strconv.FormatUint(uint64(sa.ZoneId), 10))
		}
		return netip.AddrPortFrom(ip, uint16(sa.Port))
	}
	return netip.AddrPort{}
}
