package compare

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
)

// preferred are congestion controls by their names in kernels: cubic, which most senders on the
// Internet use, and reno, which every kernel has. Transports with a congestion control of their
// own react to loss, as these two do.
var preferred = []string{"cubic", "reno"}

// Congestion returns the algorithm for all sockets that let one choose: the one that is asked
// for, or for "auto" the first of cubic and reno that this process may use. "" means that neither
// can be had, so the kernel's default stays.
func Congestion(asked string) (string, error) {
	if asked != "auto" {
		if err := tryCongestion(asked); err != nil {
			return "", fmt.Errorf("congestion control %q: %w%s", asked, err, hint(err))
		}
		return asked, nil
	}
	for _, name := range preferred {
		if tryCongestion(name) == nil {
			return name, nil
		}
	}
	return "", nil
}

// anyAddress is for a socket that tries an algorithm and never connects.
var anyAddress = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

func tryCongestion(name string) error {
	fd, err := rawio.Stream(anyAddress)
	if err != nil {
		return err
	}
	defer rawio.Close(fd)
	return rawio.SetCongestion(fd, name)
}

func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return " (this kernel has those of sysctl net.ipv4.tcp_available_congestion_control; others may have to be loaded: modprobe tcp_bbr)"
	case errors.Is(err, syscall.EPERM):
		return " (this user may use those of sysctl net.ipv4.tcp_allowed_congestion_control)"
	}
	return ""
}
