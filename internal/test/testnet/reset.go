//go:build linux

package testnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// ResetConnections resets every TCP connection of the host from outside its
// processes, as ss -K does: both ends see ECONNRESET or, on this host,
// ECONNABORTED. It returns how many there were. The kernel needs
// CONFIG_INET_DIAG_DESTROY.
func (h *Host) ResetConnections() int { return h.reset(func(*netlink.Socket) bool { return true }) }

// ResetConnections resets the TCP connections of one interface: those with one
// of its addresses. It returns how many there were.
func (c *NIC) ResetConnections() int {
	return c.host.reset(func(s *netlink.Socket) bool {
		for _, a := range c.addrs {
			if s.ID.Source.Equal(net.IP(a.Addr().AsSlice())) {
				return true
			}
		}
		return false
	})
}

// ForgetConnections loses, from now on, what arrives of the TCP connections that there
// are, as behind a middlebox that has forgotten them. It replaces what [NIC.Lose] has
// chosen, and returns how many there were.
func (c *NIC) ForgetConnections() int {
	var patterns []Pattern
	err := c.host.ns.Quick(func() error {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			sockets, err := netlink.SocketDiagTCP(family)
			if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
				return fmt.Errorf("listing sockets: %w", err)
			}
			for _, s := range sockets {
				if connected(s.State) {
					patterns = append(patterns, Pattern{{Offset: 0, Bytes: binary.BigEndian.AppendUint16(
						binary.BigEndian.AppendUint16(nil, s.ID.DestinationPort), s.ID.SourcePort)}})
				}
			}
		}
		return nil
	})
	if err != nil {
		c.host.net.should(c.explain("forget connections", err))
	}
	c.Lose(TCP, false, patterns...)
	return len(patterns)
}

func (h *Host) reset(which func(*netlink.Socket) bool) int {
	done := 0
	err := h.ns.Quick(func() error {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			sockets, err := netlink.SocketDiagTCP(family)
			if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
				return fmt.Errorf("listing sockets: %w", err)
			}
			for _, s := range sockets {
				if !connected(s.State) || !which(s) {
					continue
				}
				switch err := destroy(s); {
				case err == nil:
					done++
				case errors.Is(err, unix.EOPNOTSUPP):
					return fmt.Errorf("this kernel can not reset connections from outside (CONFIG_INET_DIAG_DESTROY): %w", err)
				case !errors.Is(err, unix.ENOENT): // it has gone in the meantime
					return fmt.Errorf("resetting %v:%d → %v:%d: %w",
						s.ID.Source, s.ID.SourcePort, s.ID.Destination, s.ID.DestinationPort, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		h.net.should(fmt.Errorf("host %s: %w", h.name, err))
	}
	return done
}

func connected(state uint8) bool {
	switch state {
	case netlink.TCP_LISTEN, netlink.TCP_CLOSE, netlink.TCP_TIME_WAIT:
		return false
	}
	return true
}

// destroy sends SOCK_DESTROY with struct inet_diag_req_v2 of linux/inet_diag.h.
// The netlink package's own knows IPv4 only.
func destroy(s *netlink.Socket) error {
	b := []byte{s.Family, unix.IPPROTO_TCP, 0, 0}
	b = binary.NativeEndian.AppendUint32(b, 1<<s.State)
	b = binary.BigEndian.AppendUint16(b, s.ID.SourcePort)
	b = binary.BigEndian.AppendUint16(b, s.ID.DestinationPort)
	for _, ip := range []net.IP{s.ID.Source, s.ID.Destination} {
		var field [16]byte
		if s.Family == unix.AF_INET {
			ip = ip.To4()
		}
		copy(field[:], ip)
		b = append(b, field[:]...)
	}
	b = binary.NativeEndian.AppendUint32(b, s.ID.Interface)
	b = binary.NativeEndian.AppendUint32(b, s.ID.Cookie[0])
	b = binary.NativeEndian.AppendUint32(b, s.ID.Cookie[1])
	req := nl.NewNetlinkRequest(nl.SOCK_DESTROY, unix.NLM_F_ACK)
	req.AddRawData(b)
	_, err := req.Execute(unix.NETLINK_INET_DIAG, 0)
	return err
}
