//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Socket is one end of all its associations.
type Socket struct {
	fd   int
	out  gather
	in   scatter
	inet bool // of IPv4 only
}

// Check returns nil if SCTP sockets can be had, or an [*UnavailableError].
func Check() error {
	fd, _, err := open()
	if err != nil {
		return err
	}
	unix.Close(fd)
	return nil
}

// open makes a socket of IPv6, which takes addresses of both families, or of
// IPv4 where there is no other.
func open() (fd int, inet bool, err error) {
	const kind = unix.SOCK_SEQPACKET | unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	fd, err = unix.Socket(unix.AF_INET6, kind, unix.IPPROTO_SCTP)
	if err != nil && !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) {
		inet = true
		fd, err = unix.Socket(unix.AF_INET, kind, unix.IPPROTO_SCTP)
	}
	if err != nil {
		return -1, false, unavailable(err)
	}
	if !inet {
		// Whatever sysctl net.ipv6.bindv6only says.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0); err != nil {
			unix.Close(fd)
			return -1, false, os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	return fd, inet, nil
}

// unavailable explains why there is no socket. A kernel without SCTP has no
// SEQPACKET sockets of IP at all and says so with ESOCKTNOSUPPORT.
func unavailable(err error) error {
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return os.NewSyscallError("socket", err)
	}
	remedy := "load the kernel's module: modprobe sctp, perhaps blacklisted in /etc/modprobe.d; or btl_sctp_stack=user, which does without"
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		remedy = "a security policy of this system or container forbids it: allow SCTP sockets there; or btl_sctp_stack=user, which does without"
	}
	return &UnavailableError{Err: os.NewSyscallError("socket", err), Remedy: remedy}
}

// Open makes a socket with the options given, bound to nothing yet. Without
// kernel SCTP the error is an [*UnavailableError]; an option that the kernel
// refuses is an [*OptionError].
func Open(o Options) (*Socket, error) {
	fd, inet, err := open()
	if err != nil {
		return nil, err
	}
	s := &Socket{fd: fd, inet: inet}
	if err := s.apply(o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// FD returns the descriptor, to be watched.
func (s *Socket) FD() int { return s.fd }

// Listen lets peers associate with this socket.
func (s *Socket) Listen(backlog int) error {
	return os.NewSyscallError("listen", unix.Listen(s.fd, backlog))
}

// Close closes the socket at once. The kernel shuts the associations down in the
// background; if anything is unread it aborts them.
func (s *Socket) Close() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// Wait blocks until something may be read, at most for so many milliseconds.
func (s *Socket) Wait(milliseconds int) {
	// A failed wait is a short one.
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, milliseconds)
}

// Abort ends an association at once and says so to the peer.
func (s *Socket) Abort(id AssocID) error {
	return s.endBy(id, flagAbort)
}

// Shutdown ends an association after all that was sent has been acknowledged.
func (s *Socket) Shutdown(id AssocID) error {
	return s.endBy(id, flagEOF)
}

func (s *Socket) endBy(id AssocID, flags uint16) error {
	s.out.reset()
	if errno := s.send(SendInfo{Assoc: id}, flags); errno != 0 {
		return os.NewSyscallError("sendmsg", errno)
	}
	return nil
}

// errnoErr makes an error of an errno; nil, without allocating, of 0.
func errnoErr(call string, errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return os.NewSyscallError(call, errno)
}
