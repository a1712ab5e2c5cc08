//go:build linux

package netspace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// RaiseLoopback makes the loopback of this process's network work, as it does not in one
// that is new.
func RaiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("loopback: interface lo: %w", err)
	}
	return nil
}

// RaiseLoopback has the host reach itself.
func (s *Space) RaiseLoopback() error { return s.Quick(RaiseLoopback) }
