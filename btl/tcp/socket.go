package tcp

import (
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/internal/rawio"
)

var anyIPv4 = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// tune sets the options of a connection before it is used. Nearby says that the
// peer is on this machine.
func (m *module) tune(fd int, nearby bool) error {
	if err := rawio.SetNoDelay(fd, m.cfg.noDelay); err != nil {
		return err
	}
	if err := m.cfg.setBuffers(fd); err != nil {
		return err
	}
	if m.cfg.unsent > 0 && !nearby {
		// A system that can not do this holds more than it should.
		_ = rawio.SetUnsent(fd, m.cfg.unsent)
	}
	if m.cfg.userTimeout > 0 {
		if err := rawio.SetUserTimeout(fd, m.cfg.userTimeout); err != nil {
			return err
		}
	}
	if m.cfg.keepalive > 0 {
		if err := rawio.SetKeepalive(fd, m.cfg.keepalive, m.cfg.keepalive/keepaliveProbes, keepaliveProbes); err != nil {
			return err
		}
	}
	switch m.cfg.congestion {
	case "default":
	case "auto":
		if nearby && rawio.SetCongestion(fd, "cubic") != nil {
			// What this process may not choose it does without.
			_ = rawio.SetCongestion(fd, "reno")
		}
	default:
		return m.cfg.setCongestion(fd)
	}
	return nil
}

const keepaliveProbes = 3

// setCongestion chooses the congestion control that the user has named.
func (c config) setCongestion(fd int) error {
	if err := rawio.SetCongestion(fd, c.congestion); err != nil {
		return fmt.Errorf("%s: the kernel refuses it: %w (it allows what is in /proc/sys/net/ipv4/tcp_allowed_congestion_control; auto and default always work)",
			c.congestionSetting, err)
	}
	return nil
}

// nearby reports whether an address leads to this very machine.
func (m *module) nearby(ip netip.Addr) bool {
	return ip.IsLoopback() || m.local.Holds(ip)
}
