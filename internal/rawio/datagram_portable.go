//go:build unix && !(linux && (386 || amd64 || arm || arm64 || riscv64))

package rawio

import (
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Destination is an address as the kernel takes it.
type Destination struct{ to unix.Sockaddr }

// NewDestination prepares an address.
func NewDestination(a netip.AddrPort) Destination { return Destination{sockaddrOf(none, a)} }

// SendTo sends a datagram without waiting.
func SendTo(fd int, b []byte, to *Destination) syscall.Errno {
	if err := unix.Sendto(fd, b, 0, to.to); err != nil {
		return errnoOf(err)
	}
	return 0
}

// An Origin receives the address that a datagram came from.
type Origin struct{ from unix.Sockaddr }

// RecvFrom receives a datagram without waiting; what does not fit is cut off.
func RecvFrom(fd int, b []byte, from *Origin) (int, syscall.Errno) {
	n, sa, err := unix.Recvfrom(fd, b, 0)
	if err != nil {
		return 0, errnoOf(err)
	}
	from.from = sa
	return n, 0
}

// AddrPort returns the address.
func (o *Origin) AddrPort() netip.AddrPort { return addrPortOf(o.from) }

// Is reports whether the address is that of a destination.
func (o *Origin) Is(d *Destination) bool { return o.AddrPort() == addrPortOf(d.to) }

// reportErrors: these systems keep no answers of the network.
func reportErrors(int, bool) {}

// NextFailure finds nothing on these systems.
func NextFailure(int) (Failure, bool) { return Failure{}, false }

// SendCut is SendTo on these systems.
func SendCut(fd int, b []byte, to *Destination, _ bool) syscall.Errno { return SendTo(fd, b, to) }

// KeepWhole has no effect on these systems.
func KeepWhole(int, bool) {}
