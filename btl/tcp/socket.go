package tcp

import (
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
	if m.cfg.sndbuf > 0 {
		if err := rawio.SetSendBuffer(fd, m.cfg.sndbuf); err != nil {
			return err
		}
	}
	if m.cfg.rcvbuf > 0 {
		if err := rawio.SetReceiveBuffer(fd, m.cfg.rcvbuf); err != nil {
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
		return rawio.SetCongestion(fd, m.cfg.congestion)
	}
	return nil
}

// nearby reports whether an address leads to this very machine.
func (m *module) nearby(ip netip.Addr) bool {
	return ip.IsLoopback() || holds(&m.local, ip)
}
