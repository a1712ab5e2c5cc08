//go:build unix

package rawio

import (
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Datagrams opens a non-blocking UDP socket at an address; port 0 lets the system
// choose one. The buffers are in bytes; 0 leaves one as the system makes it. It may make
// them smaller than asked for, and does not say so: [SendBuffer] and [ReceiveBuffer] do.
func Datagrams(at netip.AddrPort, sndbuf, rcvbuf int) (int, error) {
	// A child that is started meanwhile must not inherit the socket.
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(family(at), unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := prepareDatagrams(fd, at, sndbuf, rcvbuf); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func prepareDatagrams(fd int, at netip.AddrPort, sndbuf, rcvbuf int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if at.Addr().Is6() {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	if sndbuf > 0 {
		if err := SetSendBuffer(fd, sndbuf); err != nil {
			return err
		}
	}
	if rcvbuf > 0 {
		if err := SetReceiveBuffer(fd, rcvbuf); err != nil {
			return err
		}
	}
	reportErrors(fd, at.Addr().Is6())
	if err := unix.Bind(fd, sockaddrOf(fd, at)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	return nil
}

// A Failure is what the network has answered to a datagram of ours.
type Failure struct {
	To   netip.AddrPort
	Code syscall.Errno
	// Sent is the beginning of the datagram, as far as the answer quotes it.
	Sent []byte
}

// WaitWritable waits until the socket has room, or so many milliseconds.
func WaitWritable(fd, milliseconds int) {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	// An interrupted or failed wait is only a shorter one.
	_, _ = unix.Poll(set, milliseconds)
}
